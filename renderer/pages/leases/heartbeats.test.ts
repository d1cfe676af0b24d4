import { expect, test } from 'vitest';
import { heartbeatRow, levelOf, sortRows, visibleRange } from './heartbeats.ts';
import { leaseFixture } from './lease-fixture.ts';

const node = (name: string, gaps: number[], ageSeconds = 1) =>
  heartbeatRow(
    leaseFixture(name, { kind: 'node', durationSeconds: 40, renewedAtMs: 0, renewGapsSeconds: gaps }),
    ageSeconds * 1000,
  );

test('a gap is measured against the pace at which a kubelet renews', () => {
  expect([10, 11, 12, 15, 20, 21, 41].map((gap) => levelOf(gap, 40))).toEqual([
    1,
    1,
    2,
    3,
    4,
    'missed',
    'expired',
  ]);
});

test('the running gap is a cell of its own once it is longer than usual', () => {
  expect([node('a', [10, 10], 5).cells, node('a', [10, 10], 31).cells]).toEqual([
    [1, 1],
    [1, 1, 'missed'],
  ]);
});

test('a node that never renewed is late, without an age', () => {
  const row = heartbeatRow(leaseFixture('a', { kind: 'node', renewedAtMs: null }), 1000);
  expect([row.isLate, row.ageMs, row.cells]).toEqual([true, undefined, ['expired']]);
});

test('those that are late now come first, then those that were, then by number', () => {
  const rows = [
    node('w-10', [10]),
    node('w-2', [10]),
    node('w-3', [25]),
    node('w-4', [10], 31),
    node('w-5', [10], 35),
  ];
  expect(sortRows(rows, 'worst').map(({ name }) => name)).toEqual(['w-5', 'w-4', 'w-3', 'w-2', 'w-10']);
  expect(sortRows(rows, 'name').map(({ name }) => name)).toEqual(['w-2', 'w-3', 'w-4', 'w-5', 'w-10']);
});

test('of a thousand rows only those in view are drawn', () => {
  const view = { viewHeight: 264, rowHeight: 22 };
  expect([
    visibleRange({ ...view, scrollTop: 0 }, 1000),
    visibleRange({ ...view, scrollTop: 21_736 }, 1000),
    visibleRange({ ...view, scrollTop: 0 }, 3),
    visibleRange({ ...view, scrollTop: 9999 }, 3),
    visibleRange({ ...view, scrollTop: 0 }, 0),
  ]).toEqual([
    { first: 0, last: 13 },
    { first: 988, last: 1000 },
    { first: 0, last: 3 },
    { first: 2, last: 3 },
    { first: 0, last: 0 },
  ]);
});
