import {
  constants,
  createHash,
  createPublicKey,
  sign,
  verify,
  type KeyObject,
  type SignKeyObjectInput,
} from 'node:crypto';
import { isJsonObject } from '../../api/meta/index.ts';
import { publicKeyPem } from '../../pki/index.ts';

interface Scheme {
  readonly keyType: 'rsa' | 'ec';
  readonly curve?: string;
  readonly hash: string;
  /** Of RSA: probabilistic padding instead of PKCS #1. */
  readonly isPss?: boolean;
}

const SCHEMES = {
  RS256: { keyType: 'rsa', hash: 'sha256' },
  ES256: { keyType: 'ec', curve: 'prime256v1', hash: 'sha256' },
  ES384: { keyType: 'ec', curve: 'secp384r1', hash: 'sha384' },
  ES512: { keyType: 'ec', curve: 'secp521r1', hash: 'sha512' },
  RS384: { keyType: 'rsa', hash: 'sha384' },
  RS512: { keyType: 'rsa', hash: 'sha512' },
  PS256: { keyType: 'rsa', hash: 'sha256', isPss: true },
  PS384: { keyType: 'rsa', hash: 'sha384', isPss: true },
  PS512: { keyType: 'rsa', hash: 'sha512', isPss: true },
} as const satisfies Readonly<Record<string, Scheme>>;

/** JSON Web Signatures in compact form (RFC 7515), for the algorithms that upstream accepts. */
export type JwtAlgorithm = keyof typeof SCHEMES;

/** In order of preference: what a key signs with is the first that fits it. */
export const JWT_ALGORITHMS = Object.keys(SCHEMES) as readonly JwtAlgorithm[];

export const isJwtAlgorithm = (name: string): name is JwtAlgorithm => Object.hasOwn(SCHEMES, name);

const fits = (key: KeyObject, { keyType, curve }: Scheme): boolean =>
  key.asymmetricKeyType === keyType &&
  (curve === undefined || key.asymmetricKeyDetails?.namedCurve === curve);
/** Far above any real token; keeps hashing and parsing of nonsense cheap. */
const TOKEN_LENGTH_MAX = 16 * 1024;

/** The one algorithm a key is used with: a token does not get to choose. Undefined for unfit keys. */
export const algorithmFor = (key: KeyObject): JwtAlgorithm | undefined =>
  JWT_ALGORITHMS.find((algorithm) => fits(key, SCHEMES[algorithm]));

/** As upstream derives it: the digest of the public key, so that rotation needs no bookkeeping. */
export const keyIdOf = (key: KeyObject): string => {
  const publicKey = key.type === 'private' ? createPublicKey(publicKeyPem(key)) : key;
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
};

export interface ParsedJwt {
  readonly algorithm: string;
  readonly keyId: string | undefined;
  /** Not to be believed before `verifyJwt`. */
  readonly claims: Readonly<Record<string, unknown>>;
  readonly signedText: string;
  readonly signature: Buffer;
}

const BASE64URL = /^[A-Za-z0-9_-]+$/;

const decodeObject = (part: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

/** Undefined for what is no signed token in compact form. */
export const parseJwt = (token: string): ParsedJwt | undefined => {
  if (token.length > TOKEN_LENGTH_MAX) return undefined;
  const parts = token.split('.');
  if (parts.length !== 3 || !parts.every((part) => BASE64URL.test(part))) return undefined;
  const [head, body, signature] = parts as [string, string, string];
  const header = decodeObject(head);
  const claims = decodeObject(body);
  if (!header || !claims || typeof header['alg'] !== 'string') return undefined;
  // RFC 7515, section 4.1.11: what must be understood and is not, is refused.
  if (header['crit'] !== undefined) return undefined;
  return {
    algorithm: header['alg'],
    keyId: typeof header['kid'] === 'string' ? header['kid'] : undefined,
    claims,
    signedText: `${head}.${body}`,
    signature: Buffer.from(signature, 'base64url'),
  };
};

const withOptions = (key: KeyObject, { keyType, isPss }: Scheme): KeyObject | SignKeyObjectInput => {
  if (keyType === 'ec') return { key, dsaEncoding: 'ieee-p1363' };
  return isPss
    ? { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : key;
};

/** By the algorithm that the token names, if it suits the key. Whether it is allowed at all is the caller's to decide. */
export const verifyJwtWith = (jwt: ParsedJwt, key: KeyObject): boolean => {
  if (!isJwtAlgorithm(jwt.algorithm)) return false;
  const scheme: Scheme = SCHEMES[jwt.algorithm];
  if (!fits(key, scheme)) return false;
  return verify(scheme.hash, Buffer.from(jwt.signedText), withOptions(key, scheme), jwt.signature);
};

export const verifyJwt = (jwt: ParsedJwt, key: KeyObject): boolean =>
  algorithmFor(key) === jwt.algorithm && verifyJwtWith(jwt, key);

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export const signJwt = (claims: Readonly<Record<string, unknown>>, key: KeyObject): string => {
  const algorithm = algorithmFor(key);
  if (algorithm === undefined)
    throw new TypeError(`a key of type ${key.asymmetricKeyType} cannot sign tokens; use RSA or ECDSA`);
  const scheme: Scheme = SCHEMES[algorithm];
  const signedText = `${encode({ alg: algorithm, kid: keyIdOf(key) })}.${encode(claims)}`;
  const signature = sign(scheme.hash, Buffer.from(signedText), withOptions(key, scheme));
  return `${signedText}.${signature.toString('base64url')}`;
};
