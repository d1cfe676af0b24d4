import type { FieldError } from '../field/field-error.ts';
import { invalid } from '../field/field-error.ts';
import type { FieldPath } from '../field/field-path.ts';

/** Addresses and ranges. An address is its 32 or 128 bits; what is no address is undefined. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

const parseIpv4 = (text: string): bigint | undefined => {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let bits = 0n;
  for (const part of parts) {
    // Leading zeros are refused: some read them as octal.
    if (!/^(0|[1-9][0-9]{0,2})$/.test(part) || Number(part) > 255) return undefined;
    bits = (bits << 8n) | BigInt(part);
  }
  return bits;
};

function parseIpv6(text: string): bigint | undefined {
  const tail = /^(.*:)([0-9]+\.[0-9.]+)$/.exec(text);
  let rest = text;
  if (tail !== null) {
    const v4 = parseIpv4(tail[2] ?? '');
    if (v4 === undefined) return undefined;
    rest = `${tail[1]}${(v4 >> 16n).toString(16)}:${(v4 & 0xffffn).toString(16)}`;
  }
  const halves = rest.split('::');
  if (halves.length > 2) return undefined;
  const groupsOf = (half: string | undefined): string[] =>
    half === undefined || half === '' ? [] : half.split(':');
  const [left, right] = [groupsOf(halves[0]), groupsOf(halves[1])];
  const missing = 8 - left.length - right.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...left, ...Array<string>(missing).fill('0'), ...right];
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  return groups.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

export function parseIp(text: string): IpAddress | undefined {
  const v4 = parseIpv4(text);
  if (v4 !== undefined) return { family: 4, bits: v4 };
  if (!text.includes(':')) return undefined;
  const v6 = parseIpv6(text);
  return v6 === undefined ? undefined : { family: 6, bits: v6 };
}

export interface IpRange extends IpAddress {
  readonly prefixLength: number;
}

export function parseCidr(text: string): IpRange | undefined {
  const slash = text.indexOf('/');
  if (slash < 0) return undefined;
  const address = parseIp(text.slice(0, slash));
  const length = text.slice(slash + 1);
  if (address === undefined || !/^(0|[1-9][0-9]{0,2})$/.test(length)) return undefined;
  const prefixLength = Number(length);
  return prefixLength > (address.family === 4 ? 32 : 128) ? undefined : { ...address, prefixLength };
}

export const inRange = (address: IpAddress, range: IpRange): boolean => {
  if (address.family !== range.family) return false;
  const shift = BigInt((range.family === 4 ? 32 : 128) - range.prefixLength);
  return address.bits >> shift === range.bits >> shift;
};

/** RFC 5952: lower case, no leading zeros, the longest run of zero groups as `::`. */
export const formatIp = ({ family, bits }: IpAddress): string => {
  const width = family === 4 ? 8n : 16n;
  const count = family === 4 ? 4 : 8;
  const groups = Array.from({ length: count }, (_, i) =>
    Number((bits >> (width * BigInt(count - 1 - i))) & ((1n << width) - 1n)),
  );
  if (family === 4) return groups.join('.');
  let [from, length] = [-1, 1];
  for (let start = 0; start < count; start += 1) {
    let end = start;
    while (end < count && groups[end] === 0) end += 1;
    if (end - start > length) [from, length] = [start, end - start];
  }
  const text = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(':');
  return from < 0 ? text(groups) : `${text(groups.slice(0, from))}::${text(groups.slice(from + length))}`;
};

const hostBits = ({ family, bits, prefixLength }: IpRange): bigint =>
  bits & ((1n << BigInt((family === 4 ? 32 : 128) - prefixLength)) - 1n);

/** IPv4 in the clothes of IPv6: ::ffff:0:0/96. */
const isMapped = ({ family, bits }: IpAddress): boolean => family === 6 && bits >> 32n === 0xffffn;

/** For fields that were never read leniently: one way to write an address. */
export const canonicalIp = (path: FieldPath, value: string): FieldError[] => {
  const address = parseIp(value);
  if (address === undefined) return ip(path, value);
  if (isMapped(address)) return [invalid(path, value, 'must not be an IPv4-mapped IPv6 address')];
  const text = formatIp(address);
  return text === value ? [] : [invalid(path, value, `must be in canonical form ("${text}")`)];
};

export const canonicalCidr = (path: FieldPath, value: string): FieldError[] => {
  const range = parseCidr(value);
  if (range === undefined) return cidr(path, value);
  if (isMapped(range)) return [invalid(path, value, 'must not have an IPv4-mapped IPv6 address')];
  if (hostBits(range) !== 0n)
    return [invalid(path, value, 'must not have bits set beyond the prefix length')];
  const text = `${formatIp(range)}/${range.prefixLength}`;
  return text === value ? [] : [invalid(path, value, `must be in canonical form ("${text}")`)];
};

export const ip = (path: FieldPath, value: string): FieldError[] =>
  parseIp(value) === undefined
    ? [invalid(path, value, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')]
    : [];

export const cidr = (path: FieldPath, value: string): FieldError[] =>
  parseCidr(value) === undefined
    ? [invalid(path, value, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')]
    : [];

const SPECIAL_V4: readonly (readonly [string, string])[] = [
  ['0.0.0.0/32', 'may not be unspecified (0.0.0.0 or ::)'],
  // Upstream refuses all of 127.0.0.0/8; the rest of it is where hosts and pods of a cluster on one machine live.
  ['127.0.0.0/16', 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  ['169.254.0.0/16', 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  ['224.0.0.0/24', 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
  ['::/128', 'may not be unspecified (0.0.0.0 or ::)'],
  ['::1/128', 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  ['fe80::/10', 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  ['ff02::/16', 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
];

/** Addresses that lead back to the node itself may not stand in endpoints. */
export function endpointIp(path: FieldPath, value: string): FieldError[] {
  const address = parseIp(value);
  if (address === undefined) return ip(path, value);
  return SPECIAL_V4.flatMap(([text, message]) => {
    const range = parseCidr(text);
    return range !== undefined && inRange(address, range) ? [invalid(path, value, message)] : [];
  });
}
