import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';

/** Which certificates of a trusted authority are accepted: one match is enough; without any name, all are. */
export interface AllowedNames {
  readonly commonNames?: readonly string[];
  /** DNS names or addresses that the certificate must be valid for, by its subject alternative names. */
  readonly hostnames?: readonly string[];
}

const commonNameOf = (certificate: X509Certificate): string | undefined =>
  /^CN=(.*)$/m.exec(certificate.subject)?.[1];

const isValidFor = (certificate: X509Certificate, name: string): boolean =>
  (isIP(name) === 0 ? certificate.checkHost(name, { subject: 'never' }) : certificate.checkIP(name)) !==
  undefined;

export const isAllowed = (certificate: X509Certificate | undefined, allowed: AllowedNames): boolean => {
  const { commonNames = [], hostnames = [] } = allowed;
  if (commonNames.length === 0 && hostnames.length === 0) return true;
  if (certificate === undefined) return false;
  const commonName = commonNameOf(certificate);
  return (
    commonNames.some((name) => name === commonName) || hostnames.some((name) => isValidFor(certificate, name))
  );
};
