import { expect, test } from 'vitest';
import { suspects } from './corruption.ts';

const compared = (agreeing: number[], differing: number[], unverified: number[] = []) => ({
  revision: 7,
  agreeing,
  differing,
  unverified,
});

test.each([
  ['nobody differs', compared([2, 3], []), 3, []],
  ['the one outside of a majority', compared([2], [3]), 3, [3]],
  ['everybody, where no majority agrees', compared([], [2, 3]), 3, [1, 2, 3]],
  ['everybody, where a peer that is silent would have decided', compared([], [2], [3]), 3, [1, 2]],
  ['two of five', compared([2, 3], [4, 5]), 5, [4, 5]],
])('suspected: %s', (_what, comparison, members, expected) => {
  expect(suspects(comparison, members, 1)).toEqual(expected);
});
