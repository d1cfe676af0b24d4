import { expect, test } from 'vitest';
import { changedFirst, changesOf, comesBackCount, goesCount, isAtLeast } from './changes.ts';
import { everyChoice, keepProblem } from './schedule.ts';

const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `n-${n}`);

test('deleted and recreated objects are counted, the others stay', () => {
  const rows = [
    { resource: 'pods', now: 5, inSnapshot: 4, goes: names(2), comesBack: names(1) },
    { resource: 'secrets', now: 3, inSnapshot: 3, goes: [], comesBack: [] },
  ];
  expect(changesOf(rows)).toEqual({ goes: 2, comesBack: 1, stays: 6, isAtLeast: false });
});

test('a truncated list is completed from the totals', () => {
  const row = { resource: 'events', now: 412, inSnapshot: 38, goes: names(10), comesBack: names(3) };
  expect([goesCount(row), comesBackCount(row), isAtLeast(row)]).toEqual([377, 3, false]);
});

test('two lists that were cut give the least there can be', () => {
  const row = { resource: 'events', now: 500, inSnapshot: 500, goes: names(10), comesBack: names(10) };
  expect([goesCount(row), isAtLeast(row), changesOf([row]).isAtLeast]).toEqual([10, true, true]);
});

test('resources with the most changes come first', () => {
  const row = (resource: string, count: number) => ({
    resource,
    now: 9,
    inSnapshot: 9 - count,
    goes: names(count),
    comesBack: [],
  });
  expect(changedFirst([row('a', 0), row('b', 2), row('c', 5)]).map(({ resource }) => resource)).toEqual([
    'c',
    'b',
    'a',
  ]);
});

test('a rhythm that is not offered is shown as the nearest', () => {
  expect([everyChoice(15), everyChoice(90), everyChoice(10_080)]).toEqual(['15', '60', '1440']);
});

test.each(['0', '1001', '', 'x', '1.5'])('keeping %j snapshots is no number of them', (text) => {
  expect(keepProblem(text)).toBe(true);
});
