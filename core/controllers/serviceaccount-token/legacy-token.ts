import { createHash, createPublicKey, sign, type KeyObject } from 'node:crypto';
import type { Stored, ServiceAccount } from '../../client/index.ts';

/** The issuer of tokens that are kept in secrets and never expire; the API server knows it apart from its own. */
export const LEGACY_ISSUER = 'kubernetes/serviceaccount';

const CLAIM_PREFIX = 'kubernetes.io/serviceaccount';

/** RFC 7518, section 3.1, for the keys that kubeadm and openssl make. */
const algorithmOf = (key: KeyObject): { readonly name: string; readonly hash: string } => {
  if (key.asymmetricKeyType === 'rsa') return { name: 'RS256', hash: 'sha256' };
  const curve = key.asymmetricKeyDetails?.namedCurve;
  if (curve === 'prime256v1') return { name: 'ES256', hash: 'sha256' };
  if (curve === 'secp384r1') return { name: 'ES384', hash: 'sha384' };
  if (curve === 'secp521r1') return { name: 'ES512', hash: 'sha512' };
  throw new TypeError(`a key of type ${key.asymmetricKeyType} cannot sign tokens; use RSA or ECDSA`);
};

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token for an account that lives as long as the secret that it is kept in. */
export const legacyToken = (
  key: KeyObject,
  account: Stored<ServiceAccount>,
  secret: { readonly name: string },
): string => {
  const { name, uid, namespace = '' } = account.metadata;
  const algorithm = algorithmOf(key);
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const keyId = createHash('sha256').update(spki).digest('base64url');
  const claims = {
    iss: LEGACY_ISSUER,
    [`${CLAIM_PREFIX}/namespace`]: namespace,
    [`${CLAIM_PREFIX}/secret.name`]: secret.name,
    [`${CLAIM_PREFIX}/service-account.name`]: name,
    [`${CLAIM_PREFIX}/service-account.uid`]: uid,
    sub: `system:serviceaccount:${namespace}:${name}`,
  };
  const text = `${encode({ alg: algorithm.name, kid: keyId })}.${encode(claims)}`;
  const signature = sign(algorithm.hash, Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
};
