import { expect, test } from 'vitest';
import { verbatim, type TimelineEntry } from '../../../core/contract/index.ts';
import { EntryTable } from './entry-table.ts';
import { BIN_WIDTH, binLane, hitLane } from './lane-painter.ts';
import { around, moveBy, newest, reveal, zoomAt } from './time-range.ts';

const entry = (id: number, more: Partial<TimelineEntry> = {}): TimelineEntry => ({
  id,
  atMs: id * 1_000,
  endMs: null,
  isOpen: false,
  lane: 'etcd',
  kind: 'memberDown',
  severity: 'warn',
  about: [],
  text: verbatim(`${id}`),
  source: null,
  cause: null,
  ...more,
});
const ETCD = new Set(['etcd'] as const);
const laneOf = (table: EntryTable) => table.lanes.find(({ lane }) => lane === 'etcd')!;

test('zooming keeps the moment under the pointer, within bounds', () => {
  const range = { fromMs: 0, toMs: 100_000 };
  expect(zoomAt(range, 25_000, 0.5)).toEqual({ fromMs: 12_500, toMs: 62_500 });
  const { fromMs, toMs } = zoomAt(range, 0, 1e-9);
  expect(toMs - fromMs).toBe(1_000);
  expect(moveBy(range, 5)).toEqual({ fromMs: 5, toMs: 100_005 });
  expect(reveal(range, 50)).toBe(range);
  expect(reveal(range, 200_000)).toEqual(around(200_000, 100_000));
  expect(newest(1_000, 100)).toEqual({ fromMs: 903, toMs: 1_003 });
});

test('an entry that comes again replaces the first and keeps its cause', () => {
  const open = entry(2, { isOpen: true, cause: 1 });
  const table = new EntryTable().with([entry(1), open]).with([entry(2, { endMs: 9_000 })]);
  expect(table.count).toBe(2);
  expect(table.byId.get(2)).toMatchObject({ isOpen: false, endMs: 9_000, cause: 1 });
});

test('entries are found by range and lane, newest first, with their number', () => {
  const table = new EntryTable().with([
    entry(3),
    entry(1, { endMs: 50_000 }),
    entry(2),
    entry(4, { lane: 'events' }),
  ]);
  const { entries, count } = table.inRange({ fromMs: 2_500, toMs: 10_000 }, ETCD, 10);
  expect([entries.map(({ id }) => id), count]).toEqual([[3, 1], 2]);
  expect(table.inRange({ fromMs: 0, toMs: 10_000 }, ETCD, 1).count).toBe(3);
});

test('causes and effects of an entry are related to it, also in a circle', () => {
  const table = new EntryTable().with([
    entry(1),
    entry(2, { cause: 1 }),
    entry(3, { cause: 2 }),
    entry(4, { cause: 2 }),
    entry(5),
    entry(6, { cause: 7 }),
    entry(7, { cause: 6 }),
  ]);
  expect([...table.relatedTo(2)].toSorted()).toEqual([1, 2, 3, 4]);
  expect([...table.relatedTo(6)].toSorted()).toEqual([6, 7]);
});

test('entries at the same pixel are counted, and the most severe is shown', () => {
  const table = new EntryTable().with([
    entry(1),
    entry(2, { atMs: 1_001, severity: 'error' }),
    entry(90, { severity: 'ok' }),
    entry(50, { endMs: 80_000 }),
  ]);
  const place = { width: 100 * BIN_WIDTH, range: { fromMs: 0, toMs: 100_000 }, nowMs: 100_000 };
  const { counts, worst, spans } = binLane(laneOf(table), place);
  expect([counts[1], worst[1], counts[90], worst[90], spans]).toEqual([2, 3, 1, 0, [2]]);
  expect(hitLane(laneOf(table), BIN_WIDTH, place)).toMatchObject({ near: 2, entry: { id: 1 } });
  expect(hitLane(laneOf(table), 65 * BIN_WIDTH, place)).toMatchObject({ near: 0, entry: { id: 50 } });
  expect(hitLane(laneOf(table), 30 * BIN_WIDTH, place)).toBeUndefined();
});
