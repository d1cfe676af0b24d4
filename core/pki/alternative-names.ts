import { isIP, isIPv4 } from 'node:net';
import * as der from './der.ts';
import { contextTag, expectTag, readAll, TAG } from './der-reader.ts';
import { PkiError } from './errors.ts';

/** RFC 5280, section 4.2.1.6. */
export interface AlternativeNames {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly uris: readonly string[];
  readonly emailAddresses: readonly string[];
}

export const noAlternativeNames: AlternativeNames = {
  dnsNames: [],
  ipAddresses: [],
  uris: [],
  emailAddresses: [],
};

const TAG_EMAIL = 1;
const TAG_DNS = 2;
const TAG_URI = 6;
const TAG_IP = 7;
const IPV4_BYTES = 4;
const IPV6_BYTES = 16;

/** Sorts hosts into names and addresses, each once: `kubeadm` takes them mixed, and so do we. */
export const alternativeNames = (hosts: readonly string[]): AlternativeNames => {
  const unique = [...new Set(hosts)];
  return {
    ...noAlternativeNames,
    dnsNames: unique.filter((host) => isIP(host) === 0),
    ipAddresses: unique.filter((host) => isIP(host) !== 0),
  };
};

export const isEmpty = (names: AlternativeNames): boolean =>
  Object.values(names).every((list) => (list as readonly string[]).length === 0);

const ipv6Bytes = (address: string): Buffer => {
  const canonical = new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const groups = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => parseInt(group, 16));
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const zeros = new Array<number>(IPV6_BYTES / 2 - before.length - after.length).fill(0);
  const bytes = Buffer.alloc(IPV6_BYTES);
  [...before, ...zeros, ...after].forEach((group, index) => bytes.writeUInt16BE(group, index * 2));
  return bytes;
};

const ipBytes = (address: string): Buffer => {
  if (isIP(address) === 0) throw new PkiError('Malformed', `${address} is not an IP address`);
  return isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
};

const ipText = (bytes: Uint8Array): string => {
  if (bytes.length === IPV4_BYTES) return bytes.join('.');
  if (bytes.length !== IPV6_BYTES)
    throw new PkiError('Malformed', 'an IP address of a certificate has neither 4 nor 16 bytes');
  const groups = Buffer.from(bytes).toString('hex').match(/.{4}/g) ?? [];
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
};

export const encodeAlternativeNames = (names: AlternativeNames): der.Der => {
  const ascii = (tag: number) => (value: string) => der.implicit(tag, Buffer.from(value, 'latin1'));
  return der.sequence(
    ...names.dnsNames.map(ascii(TAG_DNS)),
    ...names.emailAddresses.map(ascii(TAG_EMAIL)),
    ...names.ipAddresses.map((address) => der.implicit(TAG_IP, ipBytes(address))),
    ...names.uris.map(ascii(TAG_URI)),
  );
};

/** Kinds of names that Kubernetes does not use (directory names, other names) are left out. */
export const decodeAlternativeNames = (extension: Uint8Array): AlternativeNames => {
  const [list] = readAll(extension);
  const entries = readAll(expectTag(list, TAG.sequence).content);
  const of = (tag: number): Uint8Array[] =>
    entries.filter((entry) => entry.tag === contextTag(tag, false)).map(({ content }) => content);
  const texts = (tag: number): string[] => of(tag).map((content) => Buffer.from(content).toString('latin1'));
  return {
    dnsNames: texts(TAG_DNS),
    emailAddresses: texts(TAG_EMAIL),
    ipAddresses: of(TAG_IP).map(ipText),
    uris: texts(TAG_URI),
  };
};
