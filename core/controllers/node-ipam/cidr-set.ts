import { ReasonError } from '../../base/errors.ts';
import { formatIp, parseCidr, type IpRange } from '../../api/validation/ip.ts';

/** As upstream: a wider spread makes a set that is too large to keep. */
const SPREAD_BITS_MAX = 16;

const widthOf = ({ family }: IpRange): number => (family === 4 ? 32 : 128);

/** Equal parts of a range of addresses, and which of them are taken. Bounded by 2^16 parts. */
export class CidrSet {
  readonly range: IpRange;
  readonly #partLength: number;
  readonly #count: number;
  readonly #taken = new Set<number>();
  #next = 0;

  constructor(range: IpRange, partLength: number) {
    const spread = partLength - range.prefixLength;
    if (spread < 0 || spread > SPREAD_BITS_MAX)
      throw new ReasonError(
        'BadConfiguration',
        `a mask of ${partLength} bits does not divide a range of /${range.prefixLength}: ` +
          `choose --node-cidr-mask-size between ${range.prefixLength} and ${range.prefixLength + SPREAD_BITS_MAX}`,
      );
    const shift = BigInt(widthOf(range) - range.prefixLength);
    this.range = { ...range, bits: (range.bits >> shift) << shift };
    this.#partLength = partLength;
    this.#count = 2 ** spread;
  }

  get freeCount(): number {
    return this.#count - this.#taken.size;
  }

  /** Takes the next free part, going around; undefined when all are taken. */
  allocate(): string | undefined {
    for (let tried = 0; tried < this.#count; tried += 1) {
      const index = (this.#next + tried) % this.#count;
      if (this.#taken.has(index)) continue;
      this.#taken.add(index);
      this.#next = (index + 1) % this.#count;
      return this.#partAt(index);
    }
    return undefined;
  }

  /** Takes every part that overlaps with `cidr`. False when it lies outside of the range. */
  occupy(cidr: string): boolean {
    const indexes = this.#overlap(cidr);
    for (const index of indexes) this.#taken.add(index);
    return indexes.length > 0;
  }

  release(cidr: string): void {
    for (const index of this.#overlap(cidr)) this.#taken.delete(index);
  }

  #shift(): bigint {
    return BigInt(widthOf(this.range) - this.#partLength);
  }

  #partAt(index: number): string {
    const { family, bits } = this.range;
    return `${formatIp({ family, bits: bits + (BigInt(index) << this.#shift()) })}/${this.#partLength}`;
  }

  #overlap(cidr: string): number[] {
    const other = parseCidr(cidr);
    if (!other || other.family !== this.range.family) return [];
    const width = BigInt(widthOf(this.range));
    const last = (range: IpRange): bigint => range.bits + (1n << (width - BigInt(range.prefixLength))) - 1n;
    const [from, to] = [
      other.bits > this.range.bits ? other.bits : this.range.bits,
      last(other) < last(this.range) ? last(other) : last(this.range),
    ];
    if (from > to) return [];
    const first = Number((from - this.range.bits) >> this.#shift());
    const end = Number((to - this.range.bits) >> this.#shift());
    return Array.from({ length: end - first + 1 }, (_, i) => first + i);
  }
}
