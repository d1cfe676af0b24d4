import { expect, test } from 'vitest';
import { GO_SEQUENCE_MS, goSequence } from './go-sequence.ts';

test('the key after G belongs to it, in time and once', () => {
  const isAfterGo = goSequence();
  const press = (key: string, timeStamp: number): boolean => isAfterGo({ key, timeStamp });
  expect([press('j', 0), press('g', 10), press('j', 20), press('j', 30)]).toEqual([
    false,
    false,
    true,
    false,
  ]);
  expect([press('G', 100), press('l', 100 + GO_SEQUENCE_MS)]).toEqual([false, false]);
  expect([press('g', 5_000), press('g', 5_010), press('l', 5_020)]).toEqual([false, true, false]);
});
