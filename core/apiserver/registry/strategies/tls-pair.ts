import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';

const BLOCK = /-----BEGIN ([^\n-]*)-----\s[^]*?-----END \1-----/g;
const CERTIFICATE = 'CERTIFICATE';

interface PemBlock {
  readonly type: string;
  readonly text: string;
}

const blocksOf = (pem: string): readonly PemBlock[] =>
  [...pem.matchAll(BLOCK)].map(([text, type = '']) => ({ type, text }));

const isKey = ({ type }: PemBlock): boolean => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY');

const without = (wanted: string, input: string, types: readonly string[]): string =>
  types.length === 0
    ? `tls: failed to find any PEM data in ${input} input`
    : `tls: failed to find ${wanted} in ${input} input after skipping PEM blocks of the following types: [${types.join(' ')}]`;

const readable = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

const samePublicKey = (certificate: X509Certificate, key: KeyObject): string | undefined => {
  if (certificate.publicKey.asymmetricKeyType !== key.asymmetricKeyType)
    return 'tls: private key type does not match public key type';
  return certificate.checkPrivateKey(key) ? undefined : 'tls: private key does not match public key';
};

/** What Go's `tls.X509KeyPair` has against a certificate and its key; undefined where they are a pair. */
export const tlsPairProblem = (certificatePem: string, keyPem: string): string | undefined => {
  const blocks = blocksOf(certificatePem);
  const first = blocks.find(({ type }) => type === CERTIFICATE);
  if (first === undefined)
    return blocks.length === 1 && blocks[0]!.type.endsWith('PRIVATE KEY')
      ? 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched'
      : without(
          '"CERTIFICATE" PEM block',
          'certificate',
          blocks.map(({ type }) => type),
        );
  const keys = blocksOf(keyPem);
  const own = keys.find(isKey);
  if (own === undefined)
    return keys.length === 1 && keys[0]!.type === CERTIFICATE
      ? 'tls: found a certificate rather than a key in the PEM for the private key'
      : without(
          'PEM block with type ending in "PRIVATE KEY"',
          'key',
          keys.map(({ type }) => type),
        );
  const certificate = readable(() => new X509Certificate(first.text));
  if (certificate === undefined) return 'x509: malformed certificate';
  const key = readable(() => createPrivateKey(own.text));
  return key === undefined ? 'tls: failed to parse private key' : samePublicKey(certificate, key);
};
