import { afterEach, beforeEach, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta/index.ts';
import {
  changing,
  deleting,
  LIST_ALL,
  NO_OPTIONS,
  refusalOf,
  scopeOf,
  storageIn,
  testRegistry,
  type TestRegistry,
} from '../testing/fixtures.ts';

let opened: TestRegistry;
beforeEach(() => {
  opened = testRegistry();
});
afterEach(() => opened.registry.close());

const named = (name: string, more: KubernetesObject['metadata'] = {}): KubernetesObject => ({
  metadata: { name, ...more },
});
const withoutFinalizers = (now: KubernetesObject): KubernetesObject => {
  const { finalizers: _gone, ...metadata } = now.metadata ?? {};
  return { ...now, metadata };
};

test('an object with a finalizer goes when the last one is taken off, and no one adds one meanwhile', async () => {
  const maps = storageIn(opened, '', 'configmaps');
  await maps.create(scopeOf(), named('a', { finalizers: ['x/y'] }), NO_OPTIONS);
  const { held, isGone } = await maps.delete(scopeOf(), 'a', deleting());
  const adding = maps.update(
    scopeOf(),
    'a',
    changing((now) => ({ ...now, metadata: { ...now.metadata, finalizers: ['x/y', 'x/z'] } })),
  );
  const undeleting = await maps.update(
    scopeOf(),
    'a',
    changing(({ metadata, ...rest }) => {
      const { deletionTimestamp: _t, ...kept } = metadata ?? {};
      return { ...rest, metadata: kept };
    }),
  );
  const again = await refusalOf(maps.create(scopeOf(), named('a'), NO_OPTIONS));
  const refused = await refusalOf(adding);
  await maps.update(scopeOf(), 'a', changing(withoutFinalizers));
  expect([
    isGone,
    typeof held.object.metadata?.deletionTimestamp,
    refused,
    undeleting.held.object.metadata?.deletionTimestamp,
    again,
    await refusalOf(maps.get(scopeOf(), 'a', { resourceVersion: '' })),
  ]).toEqual([
    false,
    'string',
    '422 Invalid: ConfigMap "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x/z"}',
    held.object.metadata?.deletionTimestamp,
    '409 AlreadyExists: object is being deleted: configmaps "a" already exists',
    '404 NotFound: configmaps "a" not found',
  ]);
});

test('a finalizer that comes while an object is deleted is not passed over', async () => {
  const maps = storageIn(opened, '', 'configmaps');
  const { object } = await maps.create(scopeOf(), named('a'), NO_OPTIONS);
  opened.store.beforeWrite = (key) => {
    opened.store.beforeWrite = undefined;
    const { resourceVersion: _version, ...metadata } = object.metadata ?? {};
    opened.store.put(
      key,
      Buffer.from(JSON.stringify({ ...object, metadata: { ...metadata, finalizers: ['x/y'] } })),
    );
  };
  const { isGone, held } = await maps.delete(scopeOf(), 'a', deleting());
  expect([isGone, held.object.metadata?.finalizers]).toEqual([false, ['x/y']]);
});

test('a namespace is emptied before it goes', async () => {
  const namespaces = storageIn(opened, '', 'namespaces');
  const finalize = storageIn(opened, '', 'namespaces', 'finalize');
  const created = await namespaces.create(scopeOf(''), named('n'), NO_OPTIONS);
  const first = await namespaces.delete(scopeOf('n'), 'n', deleting());
  const second = await namespaces.delete(scopeOf('n'), 'n', deleting());
  const plain = await namespaces.update(
    scopeOf(''),
    'n',
    changing((now) => ({ ...now, spec: {} })),
  );
  await finalize.update(
    scopeOf(''),
    'n',
    changing((now) => ({ ...now, spec: { finalizers: [] } })),
  );
  expect([
    created.object['spec'],
    created.object['status'],
    created.object.metadata?.labels,
    first.isGone,
    first.held.object['status'],
    second.isGone,
    plain.held.object['spec'],
    await refusalOf(namespaces.get(scopeOf(''), 'n', { resourceVersion: '' })),
  ]).toEqual([
    { finalizers: ['kubernetes'] },
    { phase: 'Active' },
    { 'kubernetes.io/metadata.name': 'n' },
    false,
    { phase: 'Terminating' },
    false,
    { finalizers: ['kubernetes'] },
    '404 NotFound: namespaces "n" not found',
  ]);
});

test('a collection is deleted by selector, page after page, across namespaces', async () => {
  const maps = storageIn(opened, '', 'configmaps');
  for (let i = 0; i < 30; i += 1) await maps.create(scopeOf(`ns${i % 3}`), named(`m${i}`), NO_OPTIONS);
  const { items } = await maps.deleteCollection(scopeOf('ns1'), LIST_ALL, deleting());
  const rest = await maps.list(scopeOf(''), LIST_ALL);
  await maps.deleteCollection(scopeOf(''), { ...LIST_ALL, limit: 5 }, deleting());
  const left = await maps.list(scopeOf(''), LIST_ALL);
  expect([items.length, rest.items.length, left.items.length]).toEqual([10, 20, 15]);
});

test('a delete that admission refuses deletes nothing', async () => {
  const maps = storageIn(opened, '', 'configmaps');
  await maps.create(scopeOf(), named('a'), NO_OPTIONS);
  const refusing = deleting({ validate: () => Promise.reject(new Error('no')) });
  await expect(maps.delete(scopeOf(), 'a', refusing)).rejects.toThrow('no');
  expect((await maps.get(scopeOf(), 'a', { resourceVersion: '' })).object.metadata?.name).toBe('a');
});

test('events end on their own, and PUT creates them', async () => {
  const events = storageIn(opened, '', 'events');
  const event = { metadata: { name: 'e', namespace: 'default' }, involvedObject: { namespace: 'default' } };
  await events.create(scopeOf(), event, NO_OPTIONS);
  const { created } = await events.update(
    scopeOf(),
    'f',
    changing(() => ({ ...event, metadata: { name: 'f' } })),
  );
  expect([opened.store.leases, created, events.allowCreateOnUpdate]).toEqual([
    [{ key: '/registry/events/default/e', ttlSeconds: 3600 }],
    true,
    true,
  ]);
});

test('a list continues at its revision, and says so when that is gone', async () => {
  const maps = storageIn(opened, '', 'configmaps');
  for (const name of ['a', 'b', 'c']) await maps.create(scopeOf(), named(name), NO_OPTIONS);
  const page = await maps.list(scopeOf(), { ...LIST_ALL, limit: 1 });
  await maps.delete(scopeOf(), 'b', deleting());
  const rest = await maps.list(scopeOf(), { ...LIST_ALL, continueToken: page.continueToken! });
  const exact = await maps.list(scopeOf(), {
    ...LIST_ALL,
    resourceVersion: page.resourceVersion,
    resourceVersionMatch: 'Exact',
  });
  const newest = await maps.list(scopeOf(), LIST_ALL);
  opened.store.compactedRevision = opened.store.revision;
  expect([
    rest.items.map(({ object }) => object.metadata?.name),
    rest.resourceVersion === page.resourceVersion,
    exact.items.length,
    newest.items.length,
    await refusalOf(
      maps.list(scopeOf(), {
        ...LIST_ALL,
        resourceVersion: page.resourceVersion,
        resourceVersionMatch: 'Exact',
      }),
    ),
    await refusalOf(maps.list(scopeOf(), { ...LIST_ALL, resourceVersion: 'x' })),
  ]).toEqual([
    ['b', 'c'],
    true,
    3,
    2,
    '410 Expired: compacted',
    '400 BadRequest: invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
  ]);
});
