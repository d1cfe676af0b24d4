import { expect, test } from 'vitest';
import { silentLog } from '../../../base/log.ts';
import { manualClock } from '../../../base/manual-clock.ts';
import { seededRandom } from '../../../base/random.ts';
import { StorageError } from '../errors.ts';
import type { ListResult, Store, StoreEvent, StoreWatch } from '../store.ts';
import type { CacheEvent, WatchItem } from './cached-object.ts';
import { WatchCache, type WatchCacheOptions } from './watch-cache.ts';

const PREFIX = '/r/';
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A store that says what the test says. */
const openCache = async (
  options: Partial<WatchCacheOptions<string>> = {},
  list: Partial<ListResult> = {},
) => {
  const clock = manualClock();
  const state = {
    list: { items: [], revision: 10, ...list } as ListResult,
    newest: 10,
    progress: true,
    asked: 0,
    lists: 0,
  };
  const watches: { after: number; handlers: StoreWatch }[] = [];
  const refuse = (): never => {
    throw new Error('not part of this test');
  };
  const store: Store = {
    get: refuse,
    count: refuse,
    create: refuse,
    guaranteedUpdate: refuse,
    delete: refuse,
    async list() {
      state.lists += 1;
      return state.list;
    },
    watch(_prefix, after, handlers) {
      watches.push({ after, handlers });
      return { dispose: () => undefined };
    },
    currentRevision: async () => state.newest,
    async requestProgress() {
      state.asked += 1;
      return state.progress;
    },
  };
  const cache = new WatchCache<string>({
    store,
    prefix: PREFIX,
    codec: {
      decode(_key, value, revision) {
        const text = Buffer.from(value).toString();
        if (text === 'broken') throw new Error('cannot be decrypted');
        return `${text}@${revision}`;
      },
    },
    clock,
    random: seededRandom(5),
    log: silentLog,
    ...options,
  });
  cache.start();
  await settled();
  const tell = (...events: StoreEvent[]): void =>
    watches.at(-1)!.handlers.onEvents(events, events.at(-1)!.revision);
  return { cache, clock, state, watches, tell };
};

const put = (name: string, value: string, revision: number): StoreEvent => ({
  type: 'put',
  key: PREFIX + name,
  revision,
  value: Buffer.from(value),
  isCreate: false,
});
const removal = (name: string, revision: number): StoreEvent => ({
  type: 'delete',
  key: PREFIX + name,
  revision,
  value: undefined,
  isCreate: false,
});
const lines = (items: readonly WatchItem<string>[] | undefined): string[] =>
  (items ?? []).map((item) =>
    item.type === 'BOOKMARK'
      ? `BOOKMARK ${item.revision}`
      : `${item.type} ${item.current.object} was ${item.previous?.object ?? 'nothing'}`,
  );

test('every watcher gets the same event, with what was there before', async () => {
  const { cache, tell } = await openCache();
  const first = await cache.watch({ start: 10 });
  const second = await cache.watch({ start: 'now' });
  tell(put('a', 'one', 11), put('a', 'two', 12));
  tell(removal('a', 13));
  const [one, two] = [await first.next(10), await second.next(10)];
  expect(lines(one)).toEqual([
    'ADDED one@11 was nothing',
    'MODIFIED two@12 was one@11',
    'DELETED two@13 was two@12',
  ]);
  expect(one!.every((item, index) => item === two![index])).toBe(true);
});

test('a watcher starts within the window and nowhere before it', async () => {
  const { cache, tell } = await openCache({
    window: { eventsMin: 2, eventsMax: 2, freshMs: 1000, keptMs: 5000 },
  });
  tell(put('a', 'a', 11), put('b', 'b', 12), put('c', 'c', 13));
  const watcher = await cache.watch({ start: 12 });
  expect(lines(await watcher.next(10))).toEqual(['ADDED c@13 was nothing']);
  await expect(cache.watch({ start: 10 })).rejects.toMatchObject({
    reason: 'Expired',
    message: 'too old resource version: 10 (11)',
  });
});

test('a watcher that does not read is ended when the window has left it, and an idle one is not', async () => {
  const ended: string[] = [];
  const { cache, tell } = await openCache({
    window: { eventsMin: 2, eventsMax: 2, freshMs: 1000, keptMs: 5000 },
    metrics: { watcherEnded: (end) => ended.push(end) },
  });
  const slow = await cache.watch({ start: 'now' });
  const idle = await cache.watch({ start: 'now', prefix: '/r/other/' });
  tell(put('a', 'a', 11), put('b', 'b', 12), put('c', 'c', 13));
  expect([await slow.next(10), slow.end, idle.end, ended, cache.watcherCount]).toEqual([
    undefined,
    'slow',
    undefined,
    ['slow'],
    1,
  ]);
  tell(put('other/d', 'd', 14));
  expect(lines(await idle.next(10))).toEqual(['ADDED d@14 was nothing']);
});

test('a client that reconnects gets the same evicted objects, and the newest of each is kept', async () => {
  let decoded = 0;
  const decode = (_key: string, value: Uint8Array, revision: number): string => {
    decoded += 1;
    return `${Buffer.from(value).toString()}@${revision}`;
  };
  const { cache, tell } = await openCache({ codec: { decode } });
  const follower = await cache.watch({ start: 'now' });
  const told: string[] = [];
  for (let revision = 11; revision < 1011; revision += 1) {
    tell(revision === 1000 ? { ...put('a', 'a', revision), type: 'delete' } : put('a', 'a', revision));
    told.push(...lines(await follower.next(10)));
  }
  const kept = cache.peek('/r/a')!;
  expect([kept.object, decoded]).toEqual(['a@1010', 1000]);
  const late = await cache.watch({ start: 10 });
  expect(lines(await late.next(2000))).toEqual(told);
  expect(decoded).toBeGreaterThan(2000);
});

test('an event of no interest wakes no one and uses up no patience', async () => {
  const { cache, tell } = await openCache({
    window: { eventsMin: 1, eventsMax: 1, freshMs: 1000, keptMs: 5000 },
  });
  const wants = (event: CacheEvent<string>): boolean =>
    [event.current, event.previous].some((one) => one?.object.startsWith('mine') === true);
  const watcher = await cache.watch({ start: 'now', wants });
  tell(put('a', 'theirs', 11), put('b', 'theirs', 12));
  tell(put('a', 'mine', 13));
  expect(lines(await watcher.next(10))).toEqual(['MODIFIED mine@13 was theirs@11']);
});

test('a read at the newest revision waits for progress, and asks for it again and again', async () => {
  const { cache, clock, state, watches } = await openCache();
  state.newest = 15;
  const list = cache.list(PREFIX, { at: 'latest' });
  await settled();
  clock.advance(250);
  const { asked } = state;
  watches[0]!.handlers.onProgress!(15);
  expect([(await list).revision, asked, clock.pendingCount]).toEqual([15, 3, 1]);
});

test('a read goes to etcd when the cache stays behind, or its progress cannot be trusted', async () => {
  let fellBack = 0;
  const { cache, clock, state } = await openCache({ metrics: { readFellBack: () => (fellBack += 1) } });
  state.newest = 15;
  state.list = { items: [], revision: 16 };
  const late = cache.list(PREFIX, { at: 'latest' });
  await settled();
  clock.advance(3_000);
  expect((await late).revision).toBe(16);
  state.progress = false;
  expect([(await cache.list(PREFIX, { at: 'latest' })).revision, fellBack]).toEqual([16, 2]);
});

test('a watch begins with the state that etcd has when progress cannot be trusted', async () => {
  const { cache, state, tell } = await openCache();
  state.progress = false;
  state.newest = 15;
  state.list = {
    items: [{ key: `${PREFIX}a`, value: Buffer.from('new'), revision: 14 }],
    revision: 15,
  };
  const watcher = await cache.watch({ start: 'state', at: 'latest', stateBookmark: true });
  tell(put('a', 'old', 11), put('a', 'new', 14));
  tell(put('a', 'newer', 16));
  expect(lines(await watcher.next(10))).toEqual(['ADDED new@14 was nothing', 'BOOKMARK 15']);
  expect(lines(await watcher.next(10))).toEqual(['MODIFIED newer@16 was new@14']);
});

test('a read ahead of the cache ends as too large', async () => {
  const { cache, clock } = await openCache();
  const list = cache.list(PREFIX, { at: 99 });
  await settled();
  clock.advance(3_000);
  await expect(list).rejects.toMatchObject({
    reason: 'ResourceVersionTooLarge',
    message: 'Too large resource version: 99, current: 10',
  });
});

test('bookmarks come by the clock to those who asked and have read all', async () => {
  const { cache, clock, watches } = await openCache({ bookmarkIntervalMs: 1000 });
  const asked = await cache.watch({ start: 10, bookmarks: true });
  const silent = await cache.watch({ start: 10 });
  watches[0]!.handlers.onProgress!(20);
  clock.advance(1000);
  expect(lines(await asked.next(10))).toEqual(['BOOKMARK 20']);
  cache.close();
  expect([await asked.next(1), await silent.next(1), silent.end]).toEqual([undefined, undefined, 'closed']);
});

test('after a compaction the cache relists; a watch that ends over and over is not chased', async () => {
  const { cache, clock, state, watches } = await openCache();
  const watcher = await cache.watch({ start: 10 });
  const lose = (): void => watches.at(-1)!.handlers.onEnd(new StorageError('Expired', 'compacted'));
  state.list = { items: [{ key: '/r/z', value: Buffer.from('z'), revision: 28 }], revision: 30 };
  lose();
  clock.advance(0);
  await settled();
  expect([watches.at(-1)!.after, cache.size, await watcher.next(1)]).toEqual([30, 1, undefined]);
  expect(watcher.end).toMatchObject({ reason: 'Expired' });
  const { lists } = state;
  lose();
  clock.advance(1);
  await settled();
  expect(state.lists).toBe(lists);
  clock.advance(1000);
  await settled();
  expect(state.lists).toBe(lists + 1);
});

test('watchers live on when the list shows that nothing was missed', async () => {
  const { cache, clock, watches, tell } = await openCache();
  const watcher = await cache.watch({ start: 10 });
  watches[0]!.handlers.onEnd(new StorageError('Internal', 'the watch was cancelled'));
  clock.advance(0);
  await settled();
  tell(put('a', 'a', 11));
  expect(lines(await watcher.next(10))).toEqual(['ADDED a@11 was nothing']);
});

test('an object that cannot be read ends the watchers, and the cache is not ready until it can', async () => {
  const { cache, clock, state, tell } = await openCache();
  const watcher = await cache.watch({ start: 10 });
  state.list = { items: [{ key: '/r/a', value: Buffer.from('broken'), revision: 11 }], revision: 11 };
  tell(put('a', 'broken', 11));
  clock.advance(0);
  await settled();
  expect([await watcher.next(1), cache.isReady]).toEqual([undefined, false]);
  state.list = { items: [], revision: 12 };
  clock.advance(1000);
  await settled();
  expect([cache.isReady, cache.revision]).toEqual([true, 12]);
});
