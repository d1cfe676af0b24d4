import { expect, test } from 'vitest';
import { MemoryDatabase } from './backend/memory-engine.ts';
import type { LeaseBook } from './leases.ts';
import type { Event, TxnOp, TxnRequest } from './model.ts';
import { Store } from './store.ts';
import { FakeClock } from './testing/fake-clock.ts';
import { checkTxnOverlap } from './txn-overlap.ts';

const bytes = (text: string): Buffer => Buffer.from(text);
const put = (key: string, value = ''): TxnOp => ({
  type: 'put',
  request: { key: bytes(key), value: bytes(value) },
});
const remove = (key: string, rangeEnd?: string): TxnOp => ({
  type: 'delete-range',
  request: { key: bytes(key), rangeEnd: rangeEnd === undefined ? undefined : bytes(rangeEnd) },
});
const always = (...success: TxnOp[]): TxnRequest => ({ compare: [], success, failure: [] });

const openStore = async (leases?: LeaseBook) => {
  const clock = new FakeClock();
  const database = new MemoryDatabase();
  const backend = database.open({ clock });
  const store = await Store.open({ backend, clock, ...(leases === undefined ? {} : { leases }) });
  return { clock, database, backend, store };
};
const describe = (events: readonly Event[]): string[] =>
  events.map((event) => `${event.type} ${event.key}@${event.modRevision}`);

test('an empty store is at revision 1 and the first change is revision 2', async () => {
  const { store } = await openStore();
  expect([store.revision, store.put({ key: bytes('a'), value: bytes('1') }).revision]).toEqual([1, 2]);
});

test('a transaction that changes nothing takes no revision', async () => {
  const { store } = await openStore();
  const result = store.txn(always(remove('absent')));
  expect([result.revision, store.revision]).toEqual([1, 1]);
});

test('a key that is deleted and put again starts over with version 1', async () => {
  const { store } = await openStore();
  store.put({ key: bytes('a'), value: bytes('1') });
  store.deleteRange({ key: bytes('a') });
  store.put({ key: bytes('a'), value: bytes('2') });
  const { createRevision, modRevision, version } = store.range({ key: bytes('a') }).kvs[0] ?? {};
  expect({ createRevision, modRevision, version }).toEqual({ createRevision: 4, modRevision: 4, version: 1 });
});

test('changes of one transaction share a revision and later operations see earlier ones', async () => {
  const { store } = await openStore();
  const seen: [number, string[]][] = [];
  store.onChange((revision, events) => seen.push([revision, describe(events)]));
  const result = store.txn(
    always(put('a', '1'), { type: 'range', request: { key: bytes('a') } }, put('b'), remove('c')),
  );
  expect(seen).toEqual([[2, ['put a@2', 'put b@2']]]);
  expect(result.responses.map(({ type, result: { revision } }) => [type, revision])).toEqual([
    ['put', 2],
    ['range', 2],
    ['put', 2],
    ['delete-range', 2],
  ]);
});

test('compares of nested transactions are decided before the outer one changes anything', async () => {
  const { store } = await openStore();
  const ifAbsent: TxnRequest = {
    compare: [{ key: bytes('a'), target: 'version', operand: 0, result: 'equal' }],
    success: [put('b', 'absent')],
    failure: [put('b', 'present')],
  };
  store.txn(always(put('a'), { type: 'txn', request: ifAbsent }));
  expect(store.range({ key: bytes('b') }).kvs[0]?.value.toString()).toBe('absent');
});

test('a refused operation leaves no trace of the operations before it', async () => {
  const { store } = await openStore();
  const ignoring: TxnOp = { type: 'put', request: { key: bytes('x'), value: bytes(''), ignoreValue: true } };
  expect(() => store.txn(always(put('a'), ignoring))).toThrow('key not found');
  expect([store.revision, store.range({ key: bytes('a') }).count]).toEqual([1, 0]);
});

test.each<[string, boolean, TxnOp[]]>([
  ['the same key put twice', true, [put('a'), put('a')]],
  ['a put inside a deleted range', true, [remove('a', 'c'), put('b')]],
  ['a put at the end of a deleted range', false, [remove('a', 'c'), put('c')]],
  ['a nested put of the same key', true, [put('a'), { type: 'txn', request: always(put('a')) }]],
  [
    'the same key in both branches of a nested one',
    false,
    [{ type: 'txn', request: { compare: [], success: [put('a')], failure: [put('a')] } }],
  ],
  ['a nested delete over a put', true, [{ type: 'txn', request: always(remove('a', '\0')) }, put('b')]],
  ['overlapping deletes', false, [remove('a', 'c'), remove('b')]],
])('a transaction with %s is refused: %s', (_name, isRefused, ops) => {
  const check = (): void => checkTxnOverlap(always(...ops));
  if (isRefused) expect(check).toThrow('duplicate key given in txn request');
  else expect(check).not.toThrow();
});

test('more and count speak of different things', async () => {
  const { store } = await openStore();
  for (const key of ['a', 'b', 'c', 'd']) store.put({ key: bytes(key), value: bytes(key) });
  const all = { key: bytes('a'), rangeEnd: bytes('z') };
  const ask = (request: object) => {
    const { kvs, more, count } = store.range({ ...all, ...request });
    return [kvs.map((kv) => kv.key.toString()).join(''), more, count];
  };
  expect([
    ask({ limit: 2 }),
    ask({ limit: 4 }),
    ask({ limit: 2, minModRevision: 4 }),
    ask({ limit: 1, minModRevision: 4 }),
    ask({ countOnly: true }),
    ask({ sortOrder: 'descend', limit: 2 }),
    // Without an order the limit cuts by key first, and what is left is sorted ascending.
    ask({ sortTarget: 'mod', limit: 2 }),
  ]).toEqual([
    ['ab', true, 4],
    ['abcd', false, 4],
    ['cd', false, 4],
    ['c', true, 4],
    ['', false, 4],
    ['dc', true, 4],
    ['ab', true, 4],
  ]);
});

test('a revision of zero or below reads the newest', async () => {
  const { store } = await openStore();
  store.put({ key: bytes('a'), value: bytes('1') });
  expect([-1, 0, 2].map((revision) => store.range({ key: bytes('a'), revision }).count)).toEqual([1, 1, 1]);
});

test('compaction refuses what is gone or not there yet, and keeps what is still visible', async () => {
  const { store, clock } = await openStore();
  store.put({ key: bytes('a'), value: bytes('1') }); // 2
  store.put({ key: bytes('a'), value: bytes('2') }); // 3
  store.put({ key: bytes('b'), value: bytes('3') }); // 4
  store.deleteRange({ key: bytes('b') }); // 5
  expect(() => store.compact(6)).toThrow('future revision');
  store.compact(5);
  expect(() => store.compact(5)).toThrow('compacted');
  expect(() => store.range({ key: bytes('a'), revision: 4 })).toThrow('compacted');
  await clock.advance(1000);
  const left = store.backend.range('key', Buffer.of(0), undefined, 10).map(({ key }) => key.length);
  // The value of `a`, and the deletion of `b`, which happened at the compacted revision itself.
  expect([left, store.range({ key: bytes('a'), revision: 5 }).kvs[0]?.value.toString()]).toEqual([
    [17, 18],
    '2',
  ]);
});

test('a compaction interrupted by a crash is finished after the restart', async () => {
  const { store, clock, database, backend } = await openStore();
  for (let i = 0; i < 5000; i += 1) store.put({ key: bytes('a'), value: bytes(`${i}`) });
  store.compact(4000);
  await clock.advance(15);
  await backend.commit();
  const before = backend.range('key', Buffer.of(0), undefined, 9999).length;
  database.crash();
  const reopened = database.open({ clock });
  const again = await Store.open({ backend: reopened, clock });
  await clock.advance(1000);
  const after = reopened.range('key', Buffer.of(0), undefined, 9999).length;
  expect(before).toBeGreaterThan(after);
  expect([after, again.compactRevision, again.revision]).toEqual([1002, 4000, 5001]);
});

test('keys are attached to and detached from leases as they change, and again after a restart', async () => {
  const attached = new Map<string, bigint>();
  const leases: LeaseBook = {
    exists: (lease) => lease === 5n || lease === 6n,
    leaseOf: (key) => attached.get(key) ?? 0n,
    attach: (lease, key) => attached.set(key, lease),
    detach: (_lease, key) => attached.delete(key),
  };
  const { store, backend, clock } = await openStore(leases);
  expect(() => store.put({ key: bytes('a'), value: bytes(''), lease: 9n })).toThrow(
    'requested lease not found',
  );
  store.put({ key: bytes('a'), value: bytes('1'), lease: 5n });
  store.put({ key: bytes('b'), value: bytes('1'), lease: 5n });
  store.put({ key: bytes('c'), value: bytes('1'), lease: 6n });
  store.put({ key: bytes('a'), value: bytes('2'), lease: 6n });
  store.put({ key: bytes('b'), value: bytes('2') });
  store.deleteKeys(['c', 'absent']);
  expect([...attached]).toEqual([['a', 6n]]);
  attached.clear();
  await Store.open({ backend, clock, leases });
  expect([...attached]).toEqual([['a', 6n]]);
});

test('a compaction remembers its hash, which equals the one computed before it', async () => {
  const { store, clock } = await openStore();
  for (let i = 0; i < 40; i += 1) store.put({ key: bytes(`k${i % 7}`), value: bytes(`${i}`) });
  store.deleteRange({ key: bytes('k1') });
  const { revision } = store;
  for (let i = 0; i < 5; i += 1) store.put({ key: bytes(`k${i}`), value: bytes('later') });
  const before = await store.hashKv(revision);
  store.compact(revision);
  await clock.advance(1000);
  const after = await store.hashKv(revision);
  expect([after.hash, after.revision]).toEqual([before.hash, before.revision]);
});
