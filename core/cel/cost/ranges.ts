/** The least and the most that something may be. Upstream counts in uint64 and stops at its end. */
export interface Range {
  readonly min: bigint;
  readonly max: bigint;
}

export const UNLIMITED = 2n ** 64n - 1n;
const TWO_64 = 2 ** 64;

const capped = (value: bigint): bigint => (value > UNLIMITED ? UNLIMITED : value);

export const fixed = (value: number | bigint): Range => ({ min: BigInt(value), max: BigInt(value) });
export const ZERO = fixed(0);
export const ONE = fixed(1);
export const UNKNOWN: Range = { min: 0n, max: UNLIMITED };

export const addRanges = (...ranges: readonly Range[]): Range =>
  ranges.reduce((a, b) => ({ min: capped(a.min + b.min), max: capped(a.max + b.max) }), ZERO);

export const multiplyRanges = (a: Range, b: Range): Range => ({
  min: capped(a.min * b.min),
  max: capped(a.max * b.max),
});

export const unionRanges = (a: Range, b: Range): Range => ({
  min: a.min < b.min ? a.min : b.min,
  max: a.max > b.max ? a.max : b.max,
});

/** In floating point, as upstream does it, because the last digits of large costs follow from that. */
const scaleNumber = (value: bigint, factor: number): bigint => {
  const scaled = Math.ceil(Number(value) * factor);
  return scaled >= TWO_64 ? UNLIMITED : BigInt(scaled);
};
export const scaleRange = (range: Range, factor: number): Range => ({
  min: scaleNumber(range.min, factor),
  max: scaleNumber(range.max, factor),
});
