import { expect, test } from 'vitest';
import {
  countCommon,
  countIndexes,
  firstMissing,
  formatIndexes,
  hasIndex,
  indexesOf,
  parseIndexes,
} from './index-set.ts';

test.each([
  ['', ''],
  ['0', '0'],
  ['0,1', '0,1'],
  ['0-1,2', '0-2'],
  ['1,3-5,7', '1,3-5,7'],
  ['3-5,x,1', '1,3-5'],
  ['8-20,30', '8,9'],
])('%j is read below 10 and written as %j', (text, written) => {
  expect(formatIndexes(parseIndexes(text, 10))).toBe(written);
});

test('sets answer what they hold, how many, and what is missing first', () => {
  const set = indexesOf([4, 0, 1, 5, 9]);
  expect(formatIndexes(set)).toBe('0,1,4,5,9');
  expect(countIndexes(set)).toBe(5);
  expect([0, 2, 9].map((index) => hasIndex(set, index))).toEqual([true, false, true]);
  expect(firstMissing(set, { count: 4, bound: 12 })).toEqual([2, 3, 6, 7]);
  expect(firstMissing(set, { count: 9, bound: 8 })).toEqual([2, 3, 6, 7]);
  expect(countCommon(set, parseIndexes('1-4', 10))).toBe(2);
});
