import {
  constants,
  createHmac,
  createPrivateKey,
  createPublicKey,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { Identity } from './access.ts';

const MS_PER_SECOND = 1000;
const METHOD = /^(HS|RS|PS|ES)(256|384|512)$/;

export interface JwtKeys {
  /** `RS256` and its kin, or `EdDSA`. */
  readonly method: string;
  /** PEM, or the secret of an HS method. A member with a public key alone verifies tokens and issues none. */
  readonly privateKey: Buffer | undefined;
  readonly publicKey: Buffer | undefined;
  readonly ttlMs: number;
}

interface Algorithm {
  readonly sign: ((bytes: Buffer) => Buffer) | undefined;
  readonly verify: (bytes: Buffer, signature: Buffer) => boolean;
}

const invalid = (message: string): never => {
  throw new ReasonError('BadConfiguration', `--auth-token: ${message}`);
};

const algorithmOf = ({ method, privateKey, publicKey }: JwtKeys): Algorithm => {
  const match = METHOD.exec(method);
  if (match === null && method !== 'EdDSA') return invalid(`unknown sign-method ${JSON.stringify(method)}`);
  const [, family = 'EdDSA', bits = ''] = match ?? [];
  if (family === 'HS') {
    if (privateKey === undefined) return invalid('sign-method HS needs priv-key');
    const mac = (bytes: Buffer): Buffer => createHmac(`sha${bits}`, privateKey).update(bytes).digest();
    return {
      sign: mac,
      verify: (bytes, signature) => {
        const expected = mac(bytes);
        return expected.length === signature.length && timingSafeEqual(expected, signature);
      },
    };
  }
  const signingKey = privateKey && createPrivateKey(privateKey);
  const checkingKey: KeyObject | undefined = publicKey
    ? createPublicKey(publicKey)
    : signingKey && createPublicKey(signingKey);
  if (checkingKey === undefined) return invalid('priv-key or pub-key is needed');
  if (signingKey && !createPublicKey(signingKey).equals(checkingKey))
    return invalid('pub-key and priv-key do not belong together');
  const digest = family === 'EdDSA' ? null : `sha${bits}`;
  const settings = {
    ...(family === 'PS' && {
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
    }),
    ...(family === 'ES' && { dsaEncoding: 'ieee-p1363' as const }),
  };
  return {
    sign: signingKey && ((bytes) => sign(digest, bytes, { key: signingKey, ...settings })),
    verify: (bytes, signature) => verify(digest, bytes, { key: checkingKey, ...settings }, signature),
  };
};

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const parsed = (text: string): Record<string, unknown> => {
  const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
  if (typeof value !== 'object' || value === null) throw new Error('no object');
  return value as Record<string, unknown>;
};

/** Tokens that say whose they are, signed: members need not remember them. Claims are those of etcd. */
export class Jwt {
  readonly #algorithm: Algorithm;
  readonly #method: string;
  readonly #ttlMs: number;
  readonly #clock: Clock;

  /** Throws BadConfiguration. */
  constructor(keys: JwtKeys, clock: Clock) {
    try {
      this.#algorithm = algorithmOf(keys);
    } catch (error) {
      if (error instanceof ReasonError) throw error;
      throw new ReasonError('BadConfiguration', `--auth-token: unusable key: ${messageOf(error)}`, {
        cause: error,
      });
    }
    this.#method = keys.method;
    this.#ttlMs = keys.ttlMs;
    this.#clock = clock;
  }

  /** Undefined where this member has no private key. */
  issue({ username, revision }: Identity): string | undefined {
    if (this.#algorithm.sign === undefined) return undefined;
    const exp = Math.floor((this.#clock.nowMs() + this.#ttlMs) / MS_PER_SECOND);
    const body = `${part({ alg: this.#method, typ: 'JWT' })}.${part({ exp, revision, username })}`;
    return `${body}.${this.#algorithm.sign(Buffer.from(body)).toString('base64url')}`;
  }

  /** Undefined for anything but a valid token of ours. */
  read(token: string): Identity | undefined {
    const [head = '', claims = '', signature = '', ...rest] = token.split('.');
    try {
      if (rest.length > 0 || parsed(head)['alg'] !== this.#method) return undefined;
      const signed = Buffer.from(`${head}.${claims}`);
      if (!this.#algorithm.verify(signed, Buffer.from(signature, 'base64url'))) return undefined;
      const { username, revision, exp } = parsed(claims);
      const isFresh = typeof exp === 'number' && exp * MS_PER_SECOND > this.#clock.nowMs();
      if (!isFresh || typeof username !== 'string' || typeof revision !== 'number') return undefined;
      return { username, revision };
    } catch {
      return undefined; // whatever a client made up is no token
    }
  }
}
