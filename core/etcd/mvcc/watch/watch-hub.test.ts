import { expect, test } from 'vitest';
import { seededRandom } from '../../../base/random.ts';
import { MemoryDatabase } from '../backend/memory-engine.ts';
import type { Event } from '../model.ts';
import { Store } from '../store.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { randomDelete, randomPut, randomRange, randomTxn } from '../testing/random-requests.ts';
import { WatchHub } from './watch-hub.ts';
import type { WatchBatch, WatchSink } from './watcher.ts';

const bytes = (text: string): Buffer => Buffer.from(text);
const open = async () => {
  const clock = new FakeClock();
  const backend = new MemoryDatabase().open({ clock });
  const store = await Store.open({ backend, clock });
  return { clock, store, hub: new WatchHub(store, clock) };
};
const describe = (event: Event): string =>
  `${event.type} ${event.key}=${event.kv.value.toString()}@${event.kv.modRevision}`;

class Collector implements WatchSink {
  readonly batches: WatchBatch[] = [];
  isFull = false;
  deliver(batch: WatchBatch): boolean {
    if (this.isFull) return false;
    this.batches.push(batch);
    return true;
  }
  get events(): string[] {
    return this.batches.flatMap(({ events }) => events.map(describe));
  }
}

test('a watcher gets each change of its key immediately, with its revision', async () => {
  const { store, hub } = await open();
  const sink = new Collector();
  hub.watch({ key: bytes('a'), sink });
  store.put({ key: bytes('a'), value: bytes('1') });
  store.put({ key: bytes('b'), value: bytes('2') });
  store.deleteRange({ key: bytes('a') });
  expect(sink.batches.map(({ revision, events }) => [revision, events.map(describe)])).toEqual([
    [2, ['put a=1@2']],
    [4, ['delete a=@4']],
  ]);
});

test('a watcher that starts in the past gets history and then the present, without a seam', async () => {
  const { clock, store, hub } = await open();
  for (let i = 0; i < 3000; i += 1) store.put({ key: bytes('a'), value: bytes(`${i}`) });
  const sink = new Collector();
  const watcher = hub.watch({ key: bytes('a'), startRevision: 100, sink });
  expect(watcher.state).toBe('unsynced');
  store.put({ key: bytes('a'), value: bytes('3000') });
  await clock.advance(100);
  store.put({ key: bytes('a'), value: bytes('3001') });
  expect(watcher.state).toBe('synced');
  expect(sink.events).toEqual(Array.from({ length: 2904 }, (_, i) => `put a=${i + 98}@${i + 100}`));
});

test('a watcher that starts in the future hears nothing before', async () => {
  const { store, hub } = await open();
  const sink = new Collector();
  const watcher = hub.watch({ key: bytes('a'), startRevision: 4, sink });
  store.put({ key: bytes('a'), value: bytes('1') });
  store.put({ key: bytes('a'), value: bytes('2') });
  expect(hub.progress([watcher])).toBeUndefined();
  store.put({ key: bytes('a'), value: bytes('3') });
  expect([sink.events, hub.progress([watcher])]).toEqual([['put a=3@4'], 4]);
});

test('history that is compacted ends the watcher with the compacted revision', async () => {
  const { clock, store, hub } = await open();
  for (let i = 0; i < 10; i += 1) store.put({ key: bytes('a'), value: bytes(`${i}`) });
  store.compact(8);
  const [early, exact] = [new Collector(), new Collector()];
  const watcher = hub.watch({ key: bytes('a'), startRevision: 7, sink: early });
  hub.watch({ key: bytes('a'), startRevision: 8, sink: exact });
  await clock.advance(100);
  expect(early.batches.map(({ compactRevision, events }) => [compactRevision, events.length])).toEqual([
    [8, 0],
  ]);
  expect([watcher.state, exact.events.length, hub.counts]).toEqual([
    'ended',
    4,
    { watchers: 1, slow: 0, eventsSent: 4, eventsPending: 0 },
  ]);
});

test('filters leave out what they name and send nothing when nothing is left', async () => {
  const { store, hub } = await open();
  const [noPut, noDelete] = [new Collector(), new Collector()];
  hub.watch({ key: bytes('a'), filters: ['noput'], sink: noPut });
  hub.watch({ key: bytes('a'), filters: ['nodelete'], sink: noDelete });
  store.put({ key: bytes('a'), value: bytes('1') });
  store.deleteRange({ key: bytes('a') });
  expect([noPut.events, noDelete.events]).toEqual([['delete a=@3'], ['put a=1@2']]);
});

test('the previous version comes with the event for those who ask, null for a new key', async () => {
  const { store, hub } = await open();
  const sink = new Collector();
  hub.watch({ key: bytes('a'), prevKv: true, sink });
  store.put({ key: bytes('a'), value: bytes('1') });
  store.deleteRange({ key: bytes('a') });
  expect(sink.batches.flatMap(({ events }) => events.map((e) => e.prevKv?.value.toString() ?? null))).toEqual(
    [null, '1'],
  );
});

test('watchers of the same change share one array of events', async () => {
  const { store, hub } = await open();
  const sinks = Array.from({ length: 50 }, () => new Collector());
  sinks.forEach((sink, i) => hub.watch({ key: bytes('a'), rangeEnd: i % 2 ? bytes('b') : undefined, sink }));
  store.put({ key: bytes('a'), value: bytes('1') });
  expect(new Set(sinks.map(({ batches }) => batches[0]?.events)).size).toBe(1);
});

test('a watcher without room costs one batch and catches up from history', async () => {
  const { clock, store, hub } = await open();
  const sink = new Collector();
  const watcher = hub.watch({ key: bytes('a'), sink });
  sink.isFull = true;
  for (let i = 0; i < 2500; i += 1) store.put({ key: bytes('a'), value: bytes(`${i}`) });
  await clock.advance(50);
  expect([watcher.state, hub.counts, hub.progress([watcher])]).toEqual([
    'victim',
    { watchers: 1, slow: 1, eventsSent: 0, eventsPending: 1 },
    undefined,
  ]);
  sink.isFull = false;
  hub.resume();
  await clock.advance(50);
  expect(sink.events).toEqual(Array.from({ length: 2500 }, (_, i) => `put a=${i}@${i + 2}`));
  expect([watcher.state, hub.progress([watcher])]).toEqual(['synced', 2501]);
});

test('watchers continue where they were when the store takes over a state that is ahead', async () => {
  const { clock, store, hub } = await open();
  const other = await open();
  for (const value of ['1', '2']) {
    store.put({ key: bytes('a'), value: bytes(value) });
    other.store.put({ key: bytes('a'), value: bytes(value) });
  }
  const [sink, future] = [new Collector(), new Collector()];
  hub.watch({ key: bytes('a'), sink });
  const late = hub.watch({ key: bytes('a'), startRevision: 100, sink: future });
  for (const value of ['3', '4']) other.store.put({ key: bytes('a'), value: bytes(value) });
  await store.restore(other.store.backend);
  hub.restored();
  await clock.advance(100);
  store.put({ key: bytes('a'), value: bytes('5') });
  expect([sink.events, future.events, late.state]).toEqual([
    ['put a=3@4', 'put a=4@5', 'put a=5@6'],
    [],
    'synced',
  ]);
});

test('a sink that cancels while it is served gets nothing more', async () => {
  const { store, hub } = await open();
  let deliveredCount = 0;
  const watchers = [1, 2].map(() =>
    hub.watch({
      key: bytes('a'),
      sink: {
        deliver() {
          deliveredCount += 1;
          for (const watcher of watchers) watcher.cancel();
          return false;
        },
      },
    }),
  );
  store.put({ key: bytes('a'), value: bytes('1') });
  store.put({ key: bytes('a'), value: bytes('2') });
  expect([deliveredCount, hub.counts]).toEqual([
    1,
    { watchers: 0, slow: 0, eventsSent: 0, eventsPending: 0 },
  ]);
});

test('an empty range is refused', async () => {
  const { hub } = await open();
  expect(() => hub.watch({ key: bytes('b'), rangeEnd: bytes('a'), sink: new Collector() })).toThrow(
    'watcher range is empty',
  );
});

test('every watcher gets every change of its range once, in order and by whole revisions, whatever sinks do', async () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const random = seededRandom(seed);
    const { clock, store, hub } = await open();
    const all: Event[] = [];
    store.onChange((_revision, events) => all.push(...events));
    const watches: { from: number; request: ReturnType<typeof randomRange>; sink: Collector }[] = [];
    for (let step = 0; step < 150; step += 1) {
      const action = random.below(10);
      if (action < 4) {
        const { lease: _lease, ignoreLease: _il, ignoreValue: _iv, ...request } = randomPut(random);
        store.put(request);
      } else if (action < 5) store.deleteRange(randomDelete(random));
      else if (action < 6) {
        const request = randomTxn(random, store.revision);
        try {
          store.txn(request);
        } catch (error) {
          expect((error as Error).name).toBe('MvccError');
        }
      } else if (action < 7) await clock.advance(random.below(20));
      else if (action < 9) for (const { sink } of watches) sink.isFull = random.below(3) === 0;
      else {
        const request = randomRange(random);
        if (
          request.rangeEnd !== undefined &&
          request.rangeEnd[0] !== 0 &&
          Buffer.compare(request.key, request.rangeEnd) >= 0
        )
          continue;
        const startRevision = random.below(store.revision + 3);
        const sink = new Collector();
        watches.push({ from: startRevision || store.revision + 1, request, sink });
        hub.watch({ ...request, startRevision, sink });
      }
    }
    for (const { sink } of watches) sink.isFull = false;
    await clock.advance(1000);
    for (const { from, request, sink } of watches) {
      const start = Buffer.from(request.key).toString('latin1');
      const end = Buffer.from(request.rangeEnd ?? []).toString('latin1');
      const expected = all.filter(
        ({ key, modRevision }) =>
          modRevision >= from && (end === '' ? key === start : key >= start && (end === '\0' || key < end)),
      );
      expect(sink.events, `seed ${seed}`).toEqual(expected.map(describe));
      const lasts = sink.batches.map(({ events }) => events.at(-1)?.modRevision ?? 0);
      expect(new Set(lasts).size, `seed ${seed}: a revision was split`).toBe(lasts.length);
    }
    expect(hub.counts).toEqual({
      watchers: watches.length,
      slow: 0,
      eventsSent: watches.reduce((sum, { sink }) => sum + sink.events.length, 0),
      eventsPending: 0,
    });
  }
});
