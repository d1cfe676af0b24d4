import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TableRow } from '../../core/contract/index.ts';
import { naturalKey, sortKeyOf } from './sort-key.ts';
import { SortedRows, type RowOrder } from './sorted-rows.ts';

const row = (name: string, over: Partial<TableRow> = {}): TableRow => ({
  key: `web/${name}`,
  uid: name,
  name,
  namespace: 'web',
  createdAtMs: 0,
  isDeleting: false,
  labels: {},
  cells: [name],
  ...over,
});
const byName: RowOrder = { keyOf: (each) => naturalKey(each.name), isDescending: false, isShown: () => true };
const names = (rows: SortedRows): string[] => rows.shown().map((each) => each.name);

test('numbers inside names are compared as numbers', () => {
  const rows = new SortedRows(byName);
  rows.change([row('web-10'), row('web-9'), row('Web-1')], []);
  expect(names(rows)).toEqual(['Web-1', 'web-9', 'web-10']);
});

test('a row that changes moves to its new place and is there once', () => {
  const rows = new SortedRows({ ...byName, keyOf: (each) => Number(each.cells[0]) });
  rows.change(
    Array.from({ length: 100 }, (_, index) => row(`pod-${index}`, { cells: [index] })),
    [],
  );
  rows.change([row('pod-0', { cells: [99.5] })], []);
  expect([names(rows).indexOf('pod-0'), rows.shownCount]).toEqual([99, 100]);
});

test('hidden rows are counted and come back with the filter', () => {
  const rows = new SortedRows({ ...byName, isShown: (each) => each.name !== 'b' });
  rows.change([row('a'), row('b')], []);
  expect([names(rows), rows.totalCount]).toEqual([['a'], 2]);
  rows.setOrder(byName);
  expect(names(rows)).toEqual(['a', 'b']);
});

test('moving rows one by one ends where sorting everything would', () => {
  const change = fc.record({ id: fc.nat(40), rank: fc.nat(5), isGone: fc.boolean() });
  fc.assert(
    fc.property(
      fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 30 }),
      fc.boolean(),
      (bursts, isDescending) => {
        const order: RowOrder = {
          keyOf: (each) => Number(each.cells[0]),
          isDescending,
          isShown: (each) => each.cells[0] !== 3,
        };
        const moved = new SortedRows(order);
        const held = new Map<string, TableRow>();
        // Enough rows that a burst is small beside them.
        const base = Array.from({ length: 100 }, (_, index) => row(`base-${index}`, { cells: [index % 5] }));
        moved.change(base, []);
        for (const each of base) held.set(each.key, each);
        for (const burst of bursts) {
          const newest = new Map(burst.map((each) => [each.id, each]));
          const rows = [...newest.values()]
            .filter((each) => !each.isGone)
            .map(({ id, rank }) => row(`p-${id}`, { cells: [rank] }));
          const gone = [...newest.values()].filter((each) => each.isGone).map(({ id }) => `web/p-${id}`);
          moved.change(rows, gone);
          for (const key of gone) held.delete(key);
          for (const each of rows) held.set(each.key, each);
        }
        const sorted = new SortedRows(order);
        sorted.change([...held.values()], []);
        expect(names(moved)).toEqual(names(sorted));
      },
    ),
    { seed: 7, numRuns: 50 },
  );
});

test('a status column sorts the worst first, an age column the youngest', () => {
  const column = (name: string) => ({ name, type: 'string', format: '', description: '', priority: 0 });
  const status = (text: string) => sortKeyOf(row('x', { cells: [text] }), column('Status'), 0);
  const words = ['Running', 'Completed', 'CrashLoopBackOff', 'Pending'];
  expect([...words].sort((a, b) => (status(a) < status(b) ? -1 : 1))).toEqual([
    'CrashLoopBackOff',
    'Pending',
    'Running',
    'Completed',
  ]);
  const age = (createdAtMs: number) => sortKeyOf(row('x', { createdAtMs }), column('Age'), 0);
  expect(age(2000)).toBeLessThan(age(1000) as number);
});

test('durations sort by their length, not by their text', () => {
  const column = { name: 'Last Seen', type: 'string', format: '', description: '', priority: 0 };
  const keys = ['9m', '2d3h', '45s', '10m'].map((text) => sortKeyOf(row('x', { cells: [text] }), column, 0));
  expect(keys).toEqual([540, 183_600, 45, 600]);
});
