import { expect, test } from 'vitest';
import { suspects } from './corruption.ts';

/** Hashes of members 1, 2, 3, ...; undefined: it could not be compared. */
const compared = (...hashes: (number | undefined)[]) => ({
  revision: 7,
  hashes: new Map(hashes.flatMap((hash, at) => (hash === undefined ? [] : [[at + 1, hash] as const]))),
  unverified: hashes.flatMap((hash, at) => (hash === undefined ? [at + 1] : [])),
});

test.each([
  ['no member while all agree', compared(5, 5, 5), 3, []],
  ['the follower outside of a majority', compared(5, 5, 6), 3, [3]],
  ['the leader, where its followers agree with each other', compared(6, 5, 5), 3, [1]],
  ['an unknown member, where no majority agrees', compared(5, 6, 7), 3, [0]],
  ['an unknown member, where a silent one would have decided', compared(5, 6, undefined), 3, [0]],
  ['two of five', compared(5, 5, 5, 6, 7), 5, [4, 5]],
])('suspected: %s', (_what, comparison, members, expected) => {
  expect(suspects(comparison, members)).toEqual(expected);
});
