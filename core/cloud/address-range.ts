import { isIPv4 } from 'node:net';

/** Addresses from `first` to `last`, as numbers; without that of the network and the broadcast. */
export interface AddressRange {
  readonly first: number;
  readonly last: number;
}

const toNumber = (address: string): number =>
  address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);

const toText = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');

const BITS_MIN = 8;
const BITS_MAX = 30;

/** A range of loopback addresses, with room for at least two; undefined when it is none. */
export const parseRange = (cidr: string): AddressRange | undefined => {
  const match = /^(127\.[\d.]+)\/(\d+)$/.exec(cidr);
  const bits = Number(match?.[2]);
  if (!match || !isIPv4(match[1]!) || !(bits >= BITS_MIN && bits <= BITS_MAX)) return undefined;
  const size = 2 ** (32 - bits);
  const network = Math.floor(toNumber(match[1]!) / size) * size;
  return { first: network + 1, last: network + size - 2 };
};

export const inRange = ({ first, last }: AddressRange, address: string): boolean => {
  if (!isIPv4(address)) return false;
  const number = toNumber(address);
  return number >= first && number <= last;
};

/** The lowest that is free; undefined when all are taken. */
export const lowestFree = (
  { first, last }: AddressRange,
  isTaken: (address: string) => boolean,
): string | undefined => {
  for (let number = first; number <= last; number += 1) {
    const address = toText(number);
    if (!isTaken(address)) return address;
  }
  return undefined;
};
