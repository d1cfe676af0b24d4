import { X509Certificate } from 'node:crypto';

const PEM_BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
const CHAIN_LENGTH_MAX = 5;

/** Certificates of authorities, by which client certificates are told apart after the handshake. */
export type Anchors = readonly X509Certificate[];

export const parseAnchors = (bundle: Buffer | string | undefined): Anchors =>
  (bundle?.toString().match(PEM_BLOCK) ?? []).map((pem) => new X509Certificate(pem));

const isIssuedBy = (certificate: X509Certificate, issuer: X509Certificate): boolean =>
  issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);

/**
 * Whether a chain that the handshake has verified ends in one of these authorities. The handshake accepts every
 * authority of the listener, and those of the system where it has none.
 */
export const endsIn = (leaf: X509Certificate, anchors: Anchors): boolean => {
  let at: X509Certificate | undefined = leaf;
  for (let length = 1; at && length <= CHAIN_LENGTH_MAX; length += 1) {
    const current: X509Certificate = at;
    if (anchors.some((anchor) => isIssuedBy(current, anchor))) return true;
    const issuer: X509Certificate | undefined = current.issuerCertificate;
    const isOther = issuer !== undefined && issuer.fingerprint256 !== current.fingerprint256;
    at = isOther && isIssuedBy(current, issuer) ? issuer : undefined;
  }
  return false;
};
