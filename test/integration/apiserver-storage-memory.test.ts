import { afterEach, expect, test } from 'vitest';
import { hasReason } from '../../core/base/errors.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { METHOD, compactOnce, LeasePool } from '../../core/apiserver/storage/etcd-client/index.ts';
import type { StorageError } from '../../core/apiserver/storage/errors.ts';
import type { StoreEvent } from '../../core/apiserver/storage/store.ts';
import { collect, openMemoryStorage, openTextCache } from '../support/apiserver-storage.ts';

const scope = { opened: [] as (() => Promise<void> | void)[] };
afterEach(async () => {
  for (const close of scope.opened.splice(0).reverse()) await close();
});

const bytes = (text: string): Buffer => Buffer.from(text);
const text = (value: Uint8Array): string => Buffer.from(value).toString();
const failure = (promise: Promise<unknown>): Promise<StorageError> =>
  promise.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: StorageError) => error,
  );
const reasonOf = async (promise: Promise<unknown>): Promise<string> => (await failure(promise)).reason;

test('an object is created once, read, changed and deleted', async () => {
  const { store } = await openMemoryStorage(scope);
  const made = await store.create('/r/a', bytes('one'));
  expect(await reasonOf(store.create('/r/a', bytes('two')))).toBe('AlreadyExists');
  expect(text((await store.get('/r/a')).value)).toBe('one');
  const changed = await store.guaranteedUpdate('/r/a', {
    transform: (current) => ({ value: bytes(`${text(current!.value)}+`) }),
  });
  expect(changed.revision).toBe(made.revision + 1);
  const deleted = await store.delete('/r/a');
  expect([text(deleted.value), deleted.revision]).toEqual(['one+', made.revision + 2]);
  expect(await reasonOf(store.get('/r/a'))).toBe('NotFound');
  expect(await reasonOf(store.delete('/r/a'))).toBe('NotFound');
  expect(await reasonOf(store.guaranteedUpdate('/r/a', { transform: () => 'keep' }))).toBe('NotFound');
});

test('updates that meet each other lose none', async () => {
  const { store } = await openMemoryStorage(scope);
  await store.create('/r/n', bytes('0'));
  await Promise.all(
    Array.from({ length: 20 }, () =>
      store.guaranteedUpdate('/r/n', {
        transform: (current) => ({ value: bytes(String(Number(text(current!.value)) + 1)) }),
      }),
    ),
  );
  expect(text((await store.get('/r/n')).value)).toBe('20');
});

test('a verdict about an old cached object is given again about the newest', async () => {
  const { store } = await openMemoryStorage(scope);
  const cached = await store.create('/r/a', bytes('old'));
  await store.guaranteedUpdate('/r/a', { transform: () => ({ value: bytes('new') }) });
  const seen: string[] = [];
  await store.guaranteedUpdate('/r/a', {
    cached,
    transform: (current) => {
      seen.push(text(current!.value));
      if (text(current!.value) === 'old') throw new Error('refused');
      return { value: bytes('newest') };
    },
  });
  expect(seen).toEqual(['old', 'new']);
  const refusal = store.delete('/r/a', {
    check: () => {
      throw new Error('precondition');
    },
  });
  await expect(refusal).rejects.toThrow('precondition');
});

test('pages of a list are all of one revision, and say when it is gone', async () => {
  const { store, client } = await openMemoryStorage(scope);
  for (const name of ['a', 'b', 'c', 'd', 'e']) await store.create(`/r/x/${name}`, bytes(name));
  await store.create('/r/y', bytes('not in the list'));
  const first = await store.list('/r/x/', { limit: 2 });
  await store.delete('/r/x/c');
  const second = await store.list('/r/x/', { limit: 2, continueToken: first.continueToken });
  expect([...first.items, ...second.items].map(({ key }) => key)).toEqual([
    '/r/x/a',
    '/r/x/b',
    '/r/x/c',
    '/r/x/d',
  ]);
  expect([first.remainingItemCount, second.remainingItemCount, second.revision]).toEqual([
    3,
    1,
    first.revision,
  ]);
  expect(JSON.parse(Buffer.from(first.continueToken!, 'base64url').toString())).toEqual({
    v: 'meta.k8s.io/v1',
    rv: first.revision,
    start: 'b\u0000',
  });
  await client.call(METHOD.compact, { revision: first.revision + 1 });
  const expired = await failure(store.list('/r/x/', { limit: 2, continueToken: first.continueToken }));
  expect(expired.reason).toBe('Expired');
  const rest = await store.list('/r/x/', { continueToken: expired.continueToken });
  expect(rest.items.map(({ key }) => key)).toEqual(['/r/x/d', '/r/x/e']);
  expect(await store.count('/r/x/')).toBe(4);
  expect(await reasonOf(store.list('/r/x/', { at: { match: 'exact', revision: first.revision } }))).toBe(
    'Expired',
  );
  expect(await reasonOf(store.list('/r/x/', { at: { match: 'notOlderThan', revision: 99 } }))).toBe(
    'ResourceVersionTooLarge',
  );
});

test('requests larger than a window arrive whole, and too large ones are refused as such', async () => {
  const { store } = await openMemoryStorage(scope);
  const large = Buffer.alloc(1_000_000, 'x');
  await store.create('/r/large', large);
  expect(Buffer.compare((await store.get('/r/large')).value, large)).toBe(0);
  await Promise.all(Array.from({ length: 8 }, (_, n) => store.create(`/r/large${n}`, large)));
  expect((await store.list('/r/large')).items.map(({ value }) => value.length)).toEqual(
    Array.from({ length: 9 }, () => large.length),
  );
  expect(await reasonOf(store.create('/r/too-large', Buffer.alloc(3_000_000)))).toBe('TooLarge');
});

test('a watch tells whole revisions with what was there before, from any revision', async () => {
  const { store, client } = await openMemoryStorage(scope);
  const { revision } = await store.create('/r/a', bytes('one'));
  await store.guaranteedUpdate('/r/a', { transform: () => ({ value: bytes('two') }) });
  await store.delete('/r/a');
  const seen: StoreEvent[] = [];
  await new Promise<void>((resolve) => {
    const watch = store.watch('/r/', revision - 1, {
      onEvents: (events) => {
        seen.push(...events);
        if (seen.length === 3) resolve();
      },
      onEnd: () => undefined,
    });
    scope.opened.push(() => watch.dispose());
  });
  expect(seen.map((event) => [event.type, event.isCreate, event.value && text(event.value)])).toEqual([
    ['put', true, 'one'],
    ['put', false, 'two'],
    ['delete', false, undefined],
  ]);
  await client.call(METHOD.compact, { revision: revision + 1 });
  const end = await new Promise<StorageError>((resolve) => {
    store.watch('/r/', revision - 1, { onEvents: () => undefined, onEnd: resolve });
  });
  expect(end.reason).toBe('Expired');
});

test('a call that is not answered ends at its deadline, and one that is given up immediately', async () => {
  const { client, member } = await openMemoryStorage(scope);
  member.api.range = () => new Promise(() => undefined);
  const late = await failure(client.call(METHOD.range, { key: bytes('a') }, { timeoutMs: 60 }));
  expect(late.reason).toBe('DeadlineExceeded');
  const given = new AbortController();
  const call = failure(client.call(METHOD.range, { key: bytes('a') }, { signal: given.signal }));
  given.abort();
  expect((await call).reason).toBe('Cancelled');
});

test('of several servers one compacts, at the revision it saw an interval ago', async () => {
  const { store, client } = await openMemoryStorage(scope);
  const first = await compactOnce(client, { time: 0, revision: 0 });
  const other = await compactOnce(client, { time: 0, revision: 0 });
  expect([first.compacted, other.compacted]).toEqual([false, false]);
  const { revision } = await store.create('/r/a', bytes('a'));
  await store.create('/r/b', bytes('b'));
  const done = await compactOnce(client, { ...first, revision });
  const lost = await compactOnce(client, { ...other, revision });
  expect([done.compacted, lost.compacted]).toEqual([true, false]);
  expect(await reasonOf(store.list('/r/', { at: { match: 'exact', revision: revision - 1 } }))).toBe(
    'Expired',
  );
  expect((await store.list('/r/', { at: { match: 'exact', revision } })).items.length).toBe(1);
});

test('keys that end at about the same time share a lease', async () => {
  const { client } = await openMemoryStorage(scope);
  const leases = new LeasePool(client, systemClock);
  const ids = await Promise.all([leases.lease(3600), leases.lease(3600)]);
  expect(await leases.lease(3600)).toBe(ids[0]);
  expect(ids[1]).toBe(ids[0]);
  expect(await leases.lease(60)).not.toBe(ids[0]);
  expect(await leases.keepAlive(ids[0]!)).toBeGreaterThanOrEqual(3600);
});

test('a cache shows its state, then every event once, and reads its own writes', async () => {
  const { store } = await openMemoryStorage(scope);
  const { revision } = await store.create('/r/n1/a', bytes('a'));
  const cache = await openTextCache(scope, store, '/r/');
  const all = await cache.watch({ start: 'state', stateBookmark: true });
  const one = await cache.watch({ start: 'now', prefix: '/r/n2/' });
  await store.create('/r/n2/b', bytes('b'));
  await store.guaranteedUpdate('/r/n1/a', { transform: () => ({ value: bytes('aa') }) });
  await store.delete('/r/n2/b');
  const { objects } = await cache.list('/r/', { at: 'latest' });
  expect(objects.map(({ object }) => object)).toEqual([`aa@${revision + 2}`]);
  expect(await collect(all, 5)).toEqual([
    `ADDED /r/n1/a a@${revision}`,
    `BOOKMARK ${revision} end of state`,
    `ADDED /r/n2/b b@${revision + 1}`,
    `MODIFIED /r/n1/a aa@${revision + 2}`,
    `DELETED /r/n2/b b@${revision + 3}`,
  ]);
  expect(await collect(one, 2)).toEqual([
    `ADDED /r/n2/b b@${revision + 1}`,
    `DELETED /r/n2/b b@${revision + 3}`,
  ]);
});

test('a read at the newest revision is answered although no one writes to the resource', async () => {
  const { store } = await openMemoryStorage(scope);
  const fellBack: string[] = [];
  const cache = await openTextCache(scope, store, '/quiet/', {
    metrics: { readFellBack: () => fellBack.push('fell back') },
  });
  const { revision } = await store.create('/busy/a', bytes('a'));
  const list = await cache.list('/quiet/', { at: 'latest' });
  expect([list.revision >= revision, cache.revision >= revision, fellBack]).toEqual([true, true, []]);
});

test('after a compaction that it missed, a cache relists and ends watchers that missed events', async () => {
  const { store, client } = await openMemoryStorage(scope);
  await store.create('/r/a', bytes('a'));
  const reasons: string[] = [];
  let cut = false;
  let resume: () => void = () => undefined;
  const cache = await openTextCache(
    scope,
    // The watch is lost at the moment of the cut, and comes back only at the compacted revision.
    new Proxy(store, {
      get(target, name) {
        if (name === 'watch')
          return (prefix: string, after: number, handlers: Parameters<typeof store.watch>[2]) => {
            const watch = target.watch(prefix, after, {
              onEvents: (events, upTo) => {
                if (cut) return;
                handlers.onEvents(events, upTo);
              },
              onEnd: (error) => handlers.onEnd(error),
            });
            scope.opened.push(() => watch.dispose());
            resume = (): void => {
              watch.dispose();
              cut = false;
              target.watch(prefix, after, handlers);
            };
            return watch;
          };
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    }),
    '/r/',
    { metrics: { relistNeeded: (reason) => reasons.push(reason) } },
  );
  // Told by the watch: it is there, and not only asked for, when it is cut.
  const told = await store.create('/r/told', bytes('told'));
  await cache.list('/r/', { at: told.revision });
  const before = cache.revision;
  const watcher = await cache.watch({ start: before });
  cut = true;
  await store.create('/r/b', bytes('b'));
  const { revision } = await store.create('/r/c', bytes('c'));
  await client.call(METHOD.compact, { revision });
  resume();
  expect(await watcher.next(1)).toBeUndefined();
  expect([hasReason(watcher.end, 'Expired'), reasons]).toEqual([true, ['Expired']]);
  expect((await cache.list('/r/', { at: revision })).objects.length).toBe(4);
  await expect(cache.watch({ start: before })).rejects.toThrow(
    `too old resource version: ${before} (${revision})`,
  );
  const next = await cache.watch({ start: revision });
  await store.create('/r/d', bytes('d'));
  expect(await collect(next, 1)).toEqual([`ADDED /r/d d@${revision + 1}`]);
});
