import { inRange, parseCidr, parseIp } from '../../../api/validation/ip.ts';
import type { Random } from '../../../base/random.ts';

export type IpFamily = 'IPv4' | 'IPv6';

/** Addresses handed out by hand come from the start of a range; random ones avoid it while they can. */
const OFFSET_MIN = 16;
const OFFSET_MAX = 256;
const OFFSET_STEP = 16;
/** Of larger ranges only so many are used: no one runs that many services. */
const SIZE_MAX = 2n ** 48n;
const UINT24 = 1 << 24;

const formatIpv4 = (bits: bigint): string =>
  [24n, 16n, 8n, 0n].map((shift) => String((bits >> shift) & 0xffn)).join('.');

/** RFC 5952: lower case, no leading zeros, the longest run of zeros as `::`. */
const formatIpv6 = (bits: bigint): string => {
  const groups = Array.from({ length: 8 }, (_, i) => Number((bits >> BigInt(16 * (7 - i))) & 0xffffn));
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start += 1) {
    let end = start;
    while (end < 8 && groups[end] === 0) end += 1;
    if (end - start > best.length) best = { start, length: end - start };
  }
  const text = (list: readonly number[]): string => list.map((group) => group.toString(16)).join(':');
  if (best.start < 0) return text(groups);
  return `${text(groups.slice(0, best.start))}::${text(groups.slice(best.start + best.length))}`;
};

/** One range of cluster addresses, as upstream divides it. */
export class AddressRange {
  readonly cidr: string;
  readonly family: IpFamily;
  readonly #first: bigint;
  readonly #size: bigint;
  readonly #offset: bigint;
  readonly #range: NonNullable<ReturnType<typeof parseCidr>>;

  constructor(cidr: string) {
    const range = parseCidr(cidr);
    if (range === undefined) throw new TypeError(`${cidr} is no CIDR`);
    this.cidr = cidr;
    this.family = range.family === 4 ? 'IPv4' : 'IPv6';
    this.#range = range;
    const width = BigInt((range.family === 4 ? 32 : 128) - range.prefixLength);
    const base = (range.bits >> width) << width;
    const all = 1n << width;
    // The network's own address is not given out, nor IPv4's broadcast.
    const usable = all - (range.family === 4 ? 2n : 1n);
    this.#first = base + 1n;
    this.#size = usable < 0n ? 0n : usable > SIZE_MAX ? SIZE_MAX : usable;
    const offset = Number(this.#size / BigInt(OFFSET_STEP));
    this.#offset =
      this.#size <= BigInt(OFFSET_MIN) ? 0n : BigInt(Math.min(OFFSET_MAX, Math.max(OFFSET_MIN, offset)));
  }

  contains(address: string): boolean {
    const parsed = parseIp(address);
    return parsed !== undefined && inRange(parsed, this.#range);
  }

  /** Within the part of the range that may be given out. */
  isUsable(address: string): boolean {
    const bits = parseIp(address)?.bits;
    return (
      bits !== undefined && this.contains(address) && bits >= this.#first && bits < this.#first + this.#size
    );
  }

  get firstAddress(): string {
    return this.#text(this.#first);
  }

  /** Every address once, from a random one on, those kept for requests by hand last. */
  *candidates(random: Random): Generator<string, void, void> {
    const upper = this.#size - this.#offset;
    yield* this.#walk(this.#first + this.#offset, upper, random);
    yield* this.#walk(this.#first, this.#offset, random);
  }

  *#walk(from: bigint, size: bigint, random: Random): Generator<string, void, void> {
    if (size <= 0n) return;
    const start = (BigInt(random.below(UINT24)) * BigInt(UINT24) + BigInt(random.below(UINT24))) % size;
    for (let i = 0n; i < size; i += 1n) yield this.#text(from + ((start + i) % size));
  }

  #text(bits: bigint): string {
    return this.family === 'IPv4' ? formatIpv4(bits) : formatIpv6(bits);
  }
}
