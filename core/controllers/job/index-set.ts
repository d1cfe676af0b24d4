/** Indexes as intervals, first and last included, in order and apart: a job may have a hundred thousand of them. */
export type IndexSet = readonly (readonly [first: number, last: number])[];

export const NO_INDEXES: IndexSet = [];

const NUMBER = /^\d+$/;

/** Reads `1,3-5,7`; what is not below `bound` is cut off, what is no interval is passed over. */
export const parseIndexes = (text: string | undefined, bound: number): IndexSet => {
  const intervals = (text ?? '').split(',').flatMap((part): [number, number][] => {
    const [first = '', last = first] = part.split('-');
    if (!NUMBER.test(first) || !NUMBER.test(last) || Number(first) >= bound) return [];
    return [[Number(first), Math.min(Number(last), bound - 1)]];
  });
  return union(intervals, NO_INDEXES);
};

/** `1,3-5,7`; two neighbours are written as two. */
export const formatIndexes = (set: IndexSet): string =>
  set
    .map(([first, last]) =>
      last === first ? `${first}` : last === first + 1 ? `${first},${last}` : `${first}-${last}`,
    )
    .join(',');

export const union = (a: IndexSet, b: IndexSet): IndexSet => {
  const merged: [number, number][] = [];
  for (const [first, last] of [...a, ...b].sort((left, right) => left[0] - right[0])) {
    const held = merged.at(-1);
    if (held && first <= held[1] + 1) held[1] = Math.max(held[1], last);
    else merged.push([first, last]);
  }
  return merged;
};

export const indexesOf = (indexes: Iterable<number>): IndexSet =>
  union(
    Array.from(indexes, (index) => [index, index] as const),
    NO_INDEXES,
  );

export const countIndexes = (set: IndexSet): number =>
  set.reduce((count, [first, last]) => count + last - first + 1, 0);

export const hasIndex = (set: IndexSet, index: number): boolean =>
  set.some(([first, last]) => first <= index && index <= last);

export const countCommon = (a: IndexSet, b: IndexSet): number =>
  a.reduce(
    (count, [first, last]) =>
      b.reduce(
        (sum, [otherFirst, otherLast]) =>
          sum + Math.max(0, Math.min(last, otherLast) - Math.max(first, otherFirst) + 1),
        count,
      ),
    0,
  );

/** The lowest `count` indexes below `bound` that are not in the set. */
export const firstMissing = (
  set: IndexSet,
  options: { readonly count: number; readonly bound: number },
): number[] => {
  const missing: number[] = [];
  let candidate = 0;
  for (const [first, last] of [...set, [options.bound, options.bound] as const]) {
    for (; candidate < Math.min(first, options.bound) && missing.length < options.count; candidate += 1)
      missing.push(candidate);
    candidate = Math.max(candidate, last + 1);
  }
  return missing;
};
