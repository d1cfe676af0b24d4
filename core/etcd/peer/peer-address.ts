import type { X509Certificate } from 'node:crypto';
import { Resolver, lookup } from 'node:dns/promises';

/** How names are found, so that tests need no network. */
export interface NameLookup {
  reverse(address: string): Promise<readonly string[]>;
  addressesOf(name: string): Promise<readonly string[]>;
}

const REVERSE_LIMIT_MS = 1000;
const LOOPBACK = ['127.0.0.1', '::1'];

/** Lookups of the system take a thread of those that sync the log: one at a time leaves the others to it. */
let lookups: Promise<unknown> = Promise.resolve();

const systemNames: NameLookup = {
  reverse: (address) => new Resolver({ timeout: REVERSE_LIMIT_MS, tries: 1 }).reverse(address),
  addressesOf(name) {
    if (name === 'localhost') return Promise.resolve(LOOPBACK);
    const found = lookups.then(async () => (await lookup(name, { all: true })).map(({ address }) => address));
    lookups = found.catch(() => undefined);
    return found;
  },
};

/** More than any certificate of a peer has; each may cost a question to DNS. */
const NAMES_MAX = 16;

const alternativeNamesOf = (certificate: X509Certificate): { dns: string[]; hasAddress: boolean } => {
  const parts = (certificate.subjectAltName ?? '').split(', ');
  return {
    dns: parts.flatMap((part) => (part.startsWith('DNS:') ? [part.slice('DNS:'.length)] : [])),
    hasAddress: parts.some((part) => part.startsWith('IP Address:')),
  };
};

const plain = (address: string): string => address.replace(/^::ffff:/, '');
const isWildcard = (name: string): boolean => name.startsWith('*.');

/**
 * As etcd judges who dials: the certificate must be valid for the address that the connection comes from, directly or
 * by one of its DNS names. One without any name is accepted. Undefined: accepted; otherwise why not.
 */
export const refuseAddress = async (
  certificate: X509Certificate,
  remoteAddress: string,
  names: NameLookup = systemNames,
): Promise<string | undefined> => {
  const remote = plain(remoteAddress);
  const { dns, hasAddress } = alternativeNamesOf(certificate);
  if (dns.length === 0 && !hasAddress) return undefined;
  if (hasAddress && certificate.checkIP(remote) !== undefined) return undefined;
  if (dns.length === 0) return `tls: certificate is not valid for ${remote}`;
  for (const name of dns.filter((one) => !isWildcard(one)).slice(0, NAMES_MAX)) {
    const addresses = await names.addressesOf(name).catch(() => []);
    if (addresses.some((address) => plain(address) === remote)) return undefined;
  }
  const known = await names.reverse(remote).catch(() => []);
  if (
    known.some((name) => certificate.checkHost(name.replace(/\.$/, ''), { subject: 'never' }) !== undefined)
  )
    return undefined;
  return `tls: ${JSON.stringify(remote)} does not match any of DNSNames ${JSON.stringify(dns)}`;
};
