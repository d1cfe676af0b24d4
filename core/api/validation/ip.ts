import type { FieldError } from './field-error.ts';
import { invalid } from './field-error.ts';
import type { FieldPath } from './field-path.ts';

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
  ['127.0.0.0/8', 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
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
