import type { Buckets } from './reading.ts';

/**
 * What was observed between two scrapes. A count that decreased was reset by a restart and counts from zero, as
 * Prometheus has it.
 */
export const bucketsBetween = (before: Buckets | undefined, after: Buckets): Buckets => {
  if (!before || before.bounds.length !== after.bounds.length) return after;
  const total = (buckets: Buckets): number => buckets.counts.at(-1) ?? 0;
  if (total(before) > total(after)) return after;
  return {
    bounds: after.bounds,
    counts: after.counts.map((count, index) => Math.max(0, count - before.counts[index]!)),
  };
};

export const addBuckets = (one: Buckets | undefined, other: Buckets): Buckets =>
  !one || one.bounds.length !== other.bounds.length
    ? other
    : { bounds: one.bounds, counts: one.counts.map((count, index) => count + other.counts[index]!) };

/** As histogram_quantile: linear within a bucket, the highest finite bound beyond it. Undefined: nothing observed. */
export const quantileOf = ({ bounds, counts }: Buckets, quantile: number): number | undefined => {
  const total = counts.at(-1) ?? 0;
  if (total <= 0) return undefined;
  const rank = quantile * total;
  const at = counts.findIndex((count) => count >= rank);
  const bound = bounds[at]!;
  if (bound === Infinity) return bounds.at(-2) ?? undefined;
  const below = at === 0 ? 0 : counts[at - 1]!;
  const from = at === 0 ? 0 : bounds[at - 1]!;
  const inBucket = counts[at]! - below;
  return inBucket <= 0 ? bound : from + (bound - from) * ((rank - below) / inBucket);
};
