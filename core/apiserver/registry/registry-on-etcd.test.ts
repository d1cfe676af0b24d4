import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { systemClock } from '../../base/node/clock.ts';
import { seededRandom } from '../../base/random.ts';
import { openMemoryStorage, type Opened } from '../../../test/support/apiserver-storage.ts';
import type { EtcdStore } from '../storage/etcd-store.ts';
import { createRegistry, type ObjectRegistry } from './create-registry.ts';
import type { RestStorage } from './rest-storage.ts';
import {
  changing,
  deleting,
  LIST_ALL,
  NO_OPTIONS,
  refusalOf,
  scopeOf,
  serviceOf,
  WATCH_ALL,
} from './testing/fixtures.ts';

const scope: Opened = { opened: [] };
const registries: ObjectRegistry[] = [];
let store: EtcdStore;

const open = (seed: number): ObjectRegistry => {
  const made = createRegistry({
    store,
    minor: 36,
    clock: systemClock,
    random: seededRandom(seed),
    log: silentLog,
  });
  registries.push(made);
  made.start();
  return made;
};
const storage = (registry: ObjectRegistry, group: string, plural: string): Required<RestStorage> =>
  registry.storageOf(group, plural, '') as Required<RestStorage>;

beforeAll(async () => {
  ({ store } = await openMemoryStorage(scope));
});
afterAll(async () => {
  for (const registry of registries) registry.close();
  for (const close of scope.opened.reverse()) await close();
});

test('over the wire, two servers count together and lose no update', async () => {
  const [one, two] = [open(1), open(2)];
  await Promise.all([one.ready(), two.ready()]);
  const maps = [storage(one, '', 'configmaps'), storage(two, '', 'configmaps')];
  await maps[0]!.create(scopeOf(), { metadata: { name: 'counter' }, data: { n: '0' } }, NO_OPTIONS);
  await Promise.all(maps.map((map) => map.list(scopeOf(), LIST_ALL)));
  const watcher = await maps[1]!.watch(scopeOf(), { ...WATCH_ALL });
  const add = (map: Required<RestStorage>) =>
    map.update(
      scopeOf(),
      'counter',
      changing((now) => {
        const { n } = now['data'] as { n: string };
        const { resourceVersion: _any, ...metadata } = now.metadata ?? {};
        return { ...now, metadata, data: { n: String(Number(n) + 1) } };
      }),
    );
  await Promise.all(Array.from({ length: 16 }, (_, i) => add(maps[i % 2]!)));
  const seen: string[] = [];
  while (!seen.includes('16'))
    for (const item of (await watcher.next(100)) ?? [])
      if (item.type !== 'BOOKMARK') seen.push((item.current.object['data'] as { n: string }).n);
  watcher.dispose();
  expect(seen).toEqual(Array.from({ length: 17 }, (_, i) => String(i)));
});

test('over the wire, lists are as new as the last acknowledged write of any server', async () => {
  const [one, two] = [open(3), open(4)];
  const [mine, other] = [storage(one, '', 'secrets'), storage(two, '', 'secrets')];
  await other.list(scopeOf(), LIST_ALL);
  for (let i = 0; i < 20; i += 1) {
    await mine.create(scopeOf(), { metadata: { name: `s${i}` }, type: 'Opaque' }, NO_OPTIONS);
    expect((await other.list(scopeOf(), LIST_ALL)).items).toHaveLength(i + 1);
  }
  await mine.deleteCollection(scopeOf(), LIST_ALL, deleting());
  expect((await other.list(scopeOf(), LIST_ALL)).items).toEqual([]);
});

test('over the wire, pages keep to one revision while the list changes', async () => {
  const maps = storage(open(5), '', 'limitranges');
  for (let i = 0; i < 9; i += 1)
    await maps.create(scopeOf(), { metadata: { name: `l${i}` }, spec: { limits: [] } }, NO_OPTIONS);
  const first = await maps.list(scopeOf(), { ...LIST_ALL, limit: 4 });
  await maps.delete(scopeOf(), 'l5', deleting());
  const second = await maps.list(scopeOf(), { ...LIST_ALL, limit: 4, continueToken: first.continueToken! });
  const third = await maps.list(scopeOf(), { ...LIST_ALL, limit: 4, continueToken: second.continueToken! });
  expect(
    [first, second, third].map(({ items, remainingItemCount }) => [items.length, remainingItemCount]),
  ).toEqual([
    [4, 5],
    [4, 1],
    [1, undefined],
  ]);
});

test('over the wire, two servers never give one address twice', async () => {
  const registriesOfTwo = [open(6), open(8)];
  const ips = await Promise.all(
    Array.from({ length: 30 }, async (_, i) => {
      const services = storage(registriesOfTwo[i % 2]!, '', 'services');
      const { object } = await services.create(
        scopeOf(),
        serviceOf(`s${i}`, { type: 'NodePort' }),
        NO_OPTIONS,
      );
      const { clusterIP, ports } = object['spec'] as { clusterIP: string; ports: { nodePort: number }[] };
      return [clusterIP, String(ports[0]!.nodePort)];
    }),
  );
  expect(new Set(ips.flat()).size).toBe(60);
});

test('over the wire, a dry run and a conflict are distinct', async () => {
  const maps = storage(open(7), '', 'configmaps');
  const { revision } = await maps.create(scopeOf(), { metadata: { name: 'd' } }, NO_OPTIONS);
  const put = (resourceVersion: number, dryRun = false) =>
    refusalOf(
      maps.update(
        scopeOf(),
        'd',
        changing(
          (now) => ({ ...now, metadata: { ...now.metadata, resourceVersion: String(resourceVersion) } }),
          { dryRun },
        ),
      ),
    );
  expect([await put(revision, true), await put(revision), await put(revision - 1)]).toEqual([
    'no error',
    'no error',
    '409 Conflict: Operation cannot be fulfilled on configmaps "d": the object has been modified; please apply your changes to the latest version and try again',
  ]);
});
