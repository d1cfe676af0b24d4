import { isIP } from 'node:net';
import { messageOf } from '../../base/errors.ts';

/** Go's words for what the operating system said; operators know them, and scripts look for them. */
const SYSTEM_WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'connect: connection timed out',
};

/** Of OpenSSL's many verdicts, those an operator meets: another authority, another name, another time. */
const CERTIFICATE_WORDS: Readonly<Record<string, string>> = {
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate signed by unknown authority',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate signed by unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate signed by unknown authority',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate signed by unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate signed by unknown authority',
  CERT_HAS_EXPIRED: 'certificate has expired or is not yet valid',
  CERT_NOT_YET_VALID: 'certificate has expired or is not yet valid',
};

/** No connection within the time that is given for one. */
export class DialTimeout extends Error {
  override readonly name = 'DialTimeout';
}

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';

/** As Node reports a certificate of somebody else. */
interface WrongName {
  readonly host?: string;
  readonly cert?: { readonly subjectaltname?: string };
}

const wrongName = ({ host = '', cert }: WrongName): string => {
  const isAddress = isIP(host) !== 0;
  const prefix = isAddress ? 'IP Address:' : 'DNS:';
  const names = (cert?.subjectaltname ?? '')
    .split(', ')
    .flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));
  if (isAddress && names.length === 0)
    return `cannot validate certificate for ${host} because it doesn't contain any IP SANs`;
  return names.length === 0
    ? `certificate is not valid for any names, but wanted to match ${host}`
    : `certificate is valid for ${names.join(', ')}, not ${host}`;
};

/** Why a connection to a backend failed, as Go's dialer would say it. */
export const dialErrorText = ({ host, port }: { host: string; port: number }, error: unknown): string => {
  const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  if (error instanceof DialTimeout) return `dial tcp ${address}: i/o timeout`;
  const code = codeOf(error);
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${host}: no such host`;
  const system = SYSTEM_WORDS[code];
  if (system !== undefined) return `dial tcp ${address}: ${system}`;
  const certificate = CERTIFICATE_WORDS[code];
  if (certificate !== undefined) return `tls: failed to verify certificate: x509: ${certificate}`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `tls: failed to verify certificate: x509: ${wrongName(error as WrongName)}`;
  return `dial tcp ${address}: ${messageOf(error)}`;
};
