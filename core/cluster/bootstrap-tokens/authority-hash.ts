import { createHash, X509Certificate } from 'node:crypto';
import { ReasonError } from '../../base/errors.ts';

const HASH = /^sha256:[0-9a-f]{64}$/;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
const CERTIFICATES_MAX = 16;

/** Of the public key, as RFC 7469 pins keys: a renewed certificate of the same key has the same hash. */
export const authorityHashes = (pem: string): readonly string[] =>
  (pem.match(CERTIFICATE) ?? []).slice(0, CERTIFICATES_MAX).map((text) => {
    const key = new X509Certificate(text).publicKey.export({ type: 'spki', format: 'der' });
    return `sha256:${createHash('sha256').update(key).digest('hex')}`;
  });

export const parseAuthorityHash = (text: string): string => {
  const lower = text.toLowerCase();
  if (HASH.test(lower)) return lower;
  throw new ReasonError(
    'BadToken',
    `--discovery-token-ca-cert-hash: ${JSON.stringify(text)} must be sha256: and 64 hexadecimal digits`,
  );
};
