import { afterEach, expect, test } from 'vitest';
import type { KubernetesObject, StatusError } from '../../../api/meta/index.ts';
import { fieldLookupOf } from '../../../api/scheme/index.ts';
import { parseFieldSelector, parseLabelSelector } from '../../../api/selector/index.ts';
import { StorageError } from '../../storage/errors.ts';
import type { RestStorage } from '../rest-storage.ts';
import {
  changing,
  deleting,
  LIST_ALL,
  NO_OPTIONS,
  refusalOf,
  scopeOf,
  testRegistry,
  WATCH_ALL,
  type TestRegistry,
} from '../testing/fixtures.ts';
import { eventFor, selectionOf } from './selection.ts';

let opened: TestRegistry[] = [];
afterEach(() => {
  for (const { registry } of opened) registry.close();
  opened = [];
});

const open = () => {
  const made = testRegistry();
  opened.push(made);
  const configMaps = made.registry.storageOf('', 'configmaps', '') as Required<RestStorage>;
  return { ...made, configMaps };
};

const map = (name: string, more: KubernetesObject = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  ...more,
  metadata: { name, ...more.metadata },
});

test('a created object has what only the server may say, and nothing else of it', async () => {
  const { configMaps } = open();
  const held = await configMaps.create(
    scopeOf(),
    map('a', {
      data: { k: 'v' },
      metadata: { name: 'a', uid: 'mine', selfLink: '/x', generation: 7, deletionGracePeriodSeconds: 3 },
    }),
    NO_OPTIONS,
  );
  const { creationTimestamp, ...metadata } = held.object.metadata ?? {};
  expect([
    typeof creationTimestamp,
    metadata,
    JSON.parse(Buffer.from(configMaps.json(held)!).toString()),
  ]).toEqual([
    'string',
    {
      name: 'a',
      namespace: 'default',
      uid: 'uid-1',
      generation: 7,
      resourceVersion: String(held.revision),
    },
    held.object,
  ]);
  expect(Buffer.from(held.value).toString()).not.toContain('resourceVersion');
});

test('of two updates of one version exactly one succeeds', async () => {
  const { configMaps } = open();
  const { revision } = await configMaps.create(scopeOf(), map('a'), NO_OPTIONS);
  const put = (value: string) =>
    refusalOf(
      configMaps.update(
        scopeOf(),
        'a',
        changing(() =>
          map('a', { data: { value }, metadata: { name: 'a', resourceVersion: String(revision) } }),
        ),
      ),
    );
  expect((await Promise.all([put('x'), put('y')])).sort()).toEqual([
    '409 Conflict: Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    'no error',
  ]);
});

test('refusals are in the words of upstream', async () => {
  const { configMaps, registry } = open();
  await configMaps.create(scopeOf(), map('a'), NO_OPTIONS);
  const leases = registry.storageOf('coordination.k8s.io', 'leases', '') as Required<RestStorage>;
  await leases.create(scopeOf(), map('l', { spec: {} }), NO_OPTIONS);
  expect([
    await refusalOf(configMaps.create(scopeOf(), map('a'), NO_OPTIONS)),
    await refusalOf(configMaps.get(scopeOf(), 'b', { resourceVersion: '' })),
    await refusalOf(
      configMaps.update(
        scopeOf(),
        'b',
        changing((now) => now),
      ),
    ),
    await refusalOf(
      configMaps.create(scopeOf(), map('c', { metadata: { name: 'c', namespace: 'other' } }), NO_OPTIONS),
    ),
    await refusalOf(
      configMaps.create(scopeOf(), map('c', { metadata: { name: 'c', resourceVersion: '5' } }), NO_OPTIONS),
    ),
    await refusalOf(
      leases.update(
        scopeOf(),
        'l',
        changing(() => map('l', { spec: {} })),
      ),
    ),
    await refusalOf(configMaps.delete(scopeOf(), 'a', deleting({ preconditions: { uid: 'x' } }))),
    await refusalOf(
      configMaps.update(
        scopeOf(),
        'a',
        changing((now) => ({ ...now, metadata: { ...now.metadata, uid: 'x' } })),
      ),
    ),
    await refusalOf(
      configMaps.update(scopeOf(), 'a', {
        ...changing((now) => ({ ...now, metadata: { ...now.metadata, uid: 'x' } })),
        isPatch: true,
      }),
    ),
  ]).toEqual([
    '409 AlreadyExists: configmaps "a" already exists',
    '404 NotFound: configmaps "b" not found',
    '404 NotFound: configmaps "b" not found',
    '400 BadRequest: the namespace of the provided object does not match the namespace sent on the request',
    '500 : resourceVersion should not be set on objects to be created',
    '422 Invalid: leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    '409 Conflict: Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (x) does not match the UID in record (uid-1). The object might have been deleted and then recreated',
    '409 Conflict: Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, Key: /registry/configmaps/default/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: x, UID in object meta: uid-1',
    '422 Invalid: ConfigMap "a" is invalid: metadata.uid: Invalid value: "x": field is immutable',
  ]);
});

test('an update that says the same in another order writes nothing', async () => {
  const { configMaps, store } = open();
  await configMaps.create(scopeOf(), map('a', { data: { x: '1', y: '2' } }), NO_OPTIONS);
  const { writes } = store;
  const { held } = await configMaps.update(
    scopeOf(),
    'a',
    changing(({ metadata }) => ({
      data: { y: '2', x: '1' },
      metadata: metadata!,
      kind: 'ConfigMap',
      apiVersion: 'v1',
    })),
  );
  expect([store.writes, held.object.metadata?.resourceVersion]).toEqual([writes, String(held.revision)]);
});

test('a dry run answers as if, and writes nothing', async () => {
  const { configMaps, store } = open();
  await configMaps.create(scopeOf(), map('a'), NO_OPTIONS);
  const { writes } = store;
  const dry = { ...NO_OPTIONS, dryRun: true };
  const created = await configMaps.create(scopeOf(), map('b'), dry);
  const { held } = await configMaps.update(
    scopeOf(),
    'a',
    changing((now) => ({ ...now, data: { k: 'v' } }), { dryRun: true }),
  );
  const deleted = await configMaps.delete(scopeOf(), 'a', deleting({ dryRun: true }));
  expect([
    created.object.metadata?.resourceVersion,
    held.object['data'],
    deleted.isGone,
    await refusalOf(configMaps.create(scopeOf(), map('a'), dry)),
    store.writes,
  ]).toEqual([undefined, { k: 'v' }, true, '409 AlreadyExists: configmaps "a" already exists', writes]);
});

test('a generated name that is taken is tried again, and in the end refused', async () => {
  const { configMaps, store } = open();
  const base = { metadata: { generateName: 'web-' } };
  const held = await configMaps.create(scopeOf(), { ...base }, NO_OPTIONS);
  expect(held.object.metadata?.name).toMatch(/^web-[a-z0-9]{5}$/);
  store.beforeWrite = (key) => {
    store.beforeWrite = undefined;
    store.put(key, Buffer.from('{"metadata":{}}'));
  };
  const other = await configMaps.create(scopeOf(), { ...base }, NO_OPTIONS);
  expect(other.object.metadata?.name).not.toBe(held.object.metadata?.name);
  store.beforeWrite = (key) => {
    const again = store.beforeWrite;
    store.beforeWrite = undefined;
    store.put(key, Buffer.from('{"metadata":{}}'));
    store.beforeWrite = again;
  };
  expect(await refusalOf(configMaps.create(scopeOf(), { ...base }, NO_OPTIONS))).toMatch(
    /^409 AlreadyExists: configmaps "web-.{5}" already exists, the server was not able to generate a unique name for the object$/,
  );
});

test('pages of a selection hold what was asked for and join without a gap', async () => {
  const { configMaps } = open();
  for (let i = 0; i < 25; i += 1)
    await configMaps.create(
      scopeOf(),
      map(`m${String(i).padStart(2, '0')}`, { metadata: { labels: { odd: String(i % 2) } } as never }),
      NO_OPTIONS,
    );
  const names: string[] = [];
  const sizes: number[] = [];
  let continueToken = '';
  do {
    const page = await configMaps.list(scopeOf(), {
      ...LIST_ALL,
      limit: 5,
      labelSelector: parseLabelSelector('odd=1'),
      continueToken,
    });
    sizes.push(page.items.length);
    names.push(...page.items.map(({ object }) => object.metadata?.name ?? ''));
    continueToken = page.continueToken ?? '';
  } while (continueToken !== '');
  expect([sizes, new Set(names).size, names.every((name) => Number(name.slice(1)) % 2 === 1)]).toEqual([
    [5, 5, 2],
    12,
    true,
  ]);
});

test('a list without a selector tells how many are left, and one name is found by its key', async () => {
  const { configMaps } = open();
  for (const name of ['a', 'ab', 'b', 'c']) await configMaps.create(scopeOf(), map(name), NO_OPTIONS);
  const page = await configMaps.list(scopeOf(), { ...LIST_ALL, limit: 3 });
  const one = await configMaps.list(scopeOf(''), {
    ...LIST_ALL,
    fieldSelector: parseFieldSelector('metadata.name=a,metadata.namespace=default'),
  });
  expect([page.items.length, page.remainingItemCount, one.items.map(({ key }) => key)]).toEqual([
    3,
    1,
    ['/registry/configmaps/default/a'],
  ]);
});

test('a watch with a selector gets ADDED and DELETED as objects start and stop matching', async () => {
  const { configMaps } = open();
  const labelled = (name: string, app: string) => map(name, { metadata: { name, labels: { app } } });
  await configMaps.create(scopeOf(), labelled('a', 'web'), NO_OPTIONS);
  await configMaps.create(scopeOf(), labelled('b', 'db'), NO_OPTIONS);
  const selectors = { labelSelector: parseLabelSelector('app=web'), fieldSelector: LIST_ALL.fieldSelector };
  const watcher = await configMaps.watch(scopeOf(), { ...WATCH_ALL, ...selectors });
  const relabel = (name: string, app: string) =>
    configMaps.update(
      scopeOf(),
      name,
      changing((now) => ({ ...now, ...labelled(name, app) })),
    );
  await relabel('b', 'web');
  await relabel('a', 'db');
  await configMaps.delete(scopeOf(), 'a', deleting());
  const { held } = await configMaps.update(
    scopeOf(),
    'b',
    changing((now) => ({ ...now, data: { x: '1' } })),
  );
  await configMaps.delete(scopeOf(), 'b', deleting());
  const selection = selectionOf(
    (object) => fieldLookupOf({ group: '', kind: 'ConfigMap' }, object),
    selectors,
  );
  const lines: string[] = [];
  while (lines.length < 5)
    for (const item of (await watcher.next(10)) ?? []) {
      if (item.type === 'BOOKMARK') continue;
      const seen = eventFor(selection, item);
      const { name, labels, resourceVersion } = seen?.held.object.metadata ?? {};
      lines.push(`${seen?.type} ${name} ${labels?.['app']} ${Number(resourceVersion) - held.revision}`);
    }
  watcher.dispose();
  expect(lines).toEqual([
    'ADDED a web -5',
    'ADDED b web -3',
    'DELETED a web -2',
    'MODIFIED b web 0',
    'DELETED b web 1',
  ]);
});

const lost = (reason: 'Unavailable' | 'Timeout'): StorageError =>
  new StorageError(reason, 'the answer was lost', { outcomeKnown: false });

test('a creation whose answer was lost is found again by its uid', async () => {
  const { configMaps, store } = open();
  const create = store.create.bind(store);
  store.create = async (...args) => {
    await create(...args);
    throw lost('Unavailable');
  };
  const held = await configMaps.create(scopeOf(), map('a'), NO_OPTIONS);
  expect([held.object.metadata?.name, held.revision]).toEqual(['a', store.revision]);
});

test('a creation that meets its own first try is no conflict, and that of another is one', async () => {
  const { configMaps, store } = open();
  const create = store.create.bind(store);
  store.create = async (...args) => {
    await create(...args);
    return create(...args);
  };
  await configMaps.create(scopeOf(), map('a'), NO_OPTIONS);
  expect(await refusalOf(configMaps.create(scopeOf(), map('a'), NO_OPTIONS))).toContain('409 AlreadyExists');
});

test.each(['Unavailable', 'Timeout'] as const)(
  'a client is not asked to repeat a creation that may have happened: %s',
  async (reason) => {
    const { configMaps, store } = open();
    store.create = () => Promise.reject(lost(reason));
    const error = await configMaps.create(scopeOf(), map('a'), NO_OPTIONS).catch((cause: unknown) => cause);
    expect((error as StatusError).details?.retryAfterSeconds ?? 0).toBe(0);
  },
);
