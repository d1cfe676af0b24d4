import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
  type KeyObject,
} from 'node:crypto';
import * as der from './der.ts';
import { PkiError } from './errors.ts';

/** The two names kubeadm's `encryptionAlgorithm` knows that we issue. */
export type KeyAlgorithm = 'ECDSA-P256' | 'RSA-2048';

const RSA_BITS = 2048;
const OID_ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const OID_ECDSA_WITH_SHA384 = '1.2.840.10045.4.3.3';
const OID_ECDSA_WITH_SHA512 = '1.2.840.10045.4.3.4';
const OID_RSA_WITH_SHA256 = '1.2.840.113549.1.1.11';
const OID_RSA_WITH_SHA384 = '1.2.840.113549.1.1.12';
const OID_RSA_WITH_SHA512 = '1.2.840.113549.1.1.13';

const VERIFIED: Readonly<Record<string, { hash: string; keyType: string }>> = {
  [OID_ECDSA_WITH_SHA256]: { hash: 'sha256', keyType: 'ec' },
  [OID_ECDSA_WITH_SHA384]: { hash: 'sha384', keyType: 'ec' },
  [OID_ECDSA_WITH_SHA512]: { hash: 'sha512', keyType: 'ec' },
  [OID_RSA_WITH_SHA256]: { hash: 'sha256', keyType: 'rsa' },
  [OID_RSA_WITH_SHA384]: { hash: 'sha384', keyType: 'rsa' },
  [OID_RSA_WITH_SHA512]: { hash: 'sha512', keyType: 'rsa' },
};

export const generateKey = (algorithm: KeyAlgorithm = 'ECDSA-P256'): KeyObject =>
  algorithm === 'ECDSA-P256'
    ? generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey
    : generateKeyPairSync('rsa', { modulusLength: RSA_BITS }).privateKey;

export const algorithmOf = (key: KeyObject): KeyAlgorithm => (isRsa(key) ? 'RSA-2048' : 'ECDSA-P256');

export const isRsa = (key: KeyObject): boolean => {
  if (key.asymmetricKeyType === 'rsa') return true;
  if (key.asymmetricKeyType === 'ec') return false;
  throw new PkiError('Unsupported', `key type ${key.asymmetricKeyType} is not supported`);
};

/** `EC PRIVATE KEY` and `RSA PRIVATE KEY`, the forms kubeadm writes. */
export const privateKeyPem = (key: KeyObject): string =>
  key.export({ type: isRsa(key) ? 'pkcs1' : 'sec1', format: 'pem' }).toString();

export const publicKeyPem = (key: KeyObject): string =>
  publicKeyOf(key).export({ type: 'spki', format: 'pem' }).toString();

export const publicKeyOf = (key: KeyObject): KeyObject =>
  key.type === 'private' ? createPublicKey(key) : key;

export const publicKeyDer = (key: KeyObject): Buffer =>
  publicKeyOf(key).export({ type: 'spki', format: 'der' });

export const readPrivateKey = (pem: string, what: string): KeyObject => {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    throw new PkiError('Malformed', `${what} is not a PEM-encoded private key`, { cause });
  }
};

export const signatureAlgorithm = (key: KeyObject): der.Der =>
  isRsa(key)
    ? der.sequence(der.oid(OID_RSA_WITH_SHA256), der.nothing())
    : der.sequence(der.oid(OID_ECDSA_WITH_SHA256));

export const signBytes = (bytes: Uint8Array, key: KeyObject): Buffer => sign('sha256', bytes, key);

/** False for a signature that does not fit; throws for an algorithm we do not handle. */
export const verifyBytes = (
  bytes: Uint8Array,
  signature: { readonly algorithmOid: string; readonly bytes: Uint8Array },
  key: KeyObject,
): boolean => {
  const algorithm = VERIFIED[signature.algorithmOid];
  if (!algorithm)
    throw new PkiError('Unsupported', `signature algorithm ${signature.algorithmOid} is not supported`);
  if (algorithm.keyType !== key.asymmetricKeyType) return false;
  return verify(algorithm.hash, bytes, key, signature.bytes);
};
