import { expect, onTestFinished, test } from 'vitest';
import { CONFIG_MAP, POD, REPLICA_SET, SECRET, type Kind, type Stored } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { garbageCollector } from './garbage-collector.ts';

const ref = (kind: Kind, owner: { metadata: { name: string; uid: string } }, blockOwnerDeletion = false) => ({
  apiVersion: kind.group === '' ? kind.version : `${kind.group}/${kind.version}`,
  kind: kind.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid,
  blockOwnerDeletion,
});
const map = (name: string, ...ownerReferences: ReturnType<typeof ref>[]) => ({
  metadata: { name, ownerReferences },
});
const start = async (api: FakeApi) => {
  const running = await startOnFake(api, garbageCollector);
  onTestFinished(() => running.stop());
  return running;
};
const maps = (api: FakeApi) => api.list(CONFIG_MAP).map(({ metadata }) => metadata.name);
const absent = { metadata: { name: 'absent', uid: 'u-absent' } };
const seedOne = (api: FakeApi, ...owners: ReturnType<typeof ref>[]): Stored =>
  api.seed(CONFIG_MAP, map('owner', ...owners))[0]!;

test('dependents of an owner that was deleted in the background go, down to the last', async () => {
  const api = new FakeApi();
  const owner = seedOne(api);
  const [child] = api.seed(CONFIG_MAP, map('child', ref(CONFIG_MAP, owner)));
  api.seed(SECRET, map('grandchild', ref(CONFIG_MAP, child!)));
  api.seed(CONFIG_MAP, map('stranger'));
  await start(api);
  expect(maps(api)).toEqual(['child', 'owner', 'stranger']);
  await api.client().resource(CONFIG_MAP, 'default').delete('owner', { propagationPolicy: 'Background' });
  await api.settle();
  expect([maps(api), api.list(SECRET)]).toEqual([['stranger'], []]);
});

test('an owner that never existed, or was recreated under its name, owns nothing', async () => {
  const api = new FakeApi();
  seedOne(api);
  api.seed(
    CONFIG_MAP,
    map('a', ref(CONFIG_MAP, absent)),
    map('b', ref(CONFIG_MAP, { metadata: { name: 'owner', uid: 'former' } })),
  );
  await start(api);
  expect(maps(api)).toEqual(['owner']);
});

test('with one owner left only the reference to the other goes', async () => {
  const api = new FakeApi();
  const owner = seedOne(api);
  api.seed(CONFIG_MAP, map('child', ref(CONFIG_MAP, owner), ref(SECRET, absent)));
  await start(api);
  expect(api.get(CONFIG_MAP, 'child').metadata.ownerReferences?.map(({ name }) => name)).toEqual(['owner']);
});

test('in the foreground an owner outlives the dependents that block it', async () => {
  const api = new FakeApi();
  const [owner] = api.seed(REPLICA_SET, {
    metadata: { name: 'rs' },
    spec: { selector: {}, template: {} },
  });
  api.seed(POD, {
    metadata: { name: 'p', ownerReferences: [ref(REPLICA_SET, owner!, true)] },
    spec: { nodeName: 'n', containers: [] },
    status: { phase: 'Running' },
  });
  await start(api);
  await api.client().resource(REPLICA_SET, 'default').delete('rs', { propagationPolicy: 'Foreground' });
  await api.settle();
  expect(api.get(REPLICA_SET, 'rs').metadata.finalizers).toEqual(['foregroundDeletion']);
  expect(api.get(POD, 'p').metadata.deletionTimestamp).toBeDefined();
  api.remove(POD, 'p');
  await api.settle();
  expect(api.find(REPLICA_SET, 'rs')).toBeUndefined();
});

test('orphaned dependents stay without their owner', async () => {
  const api = new FakeApi();
  const owner = seedOne(api);
  api.seed(CONFIG_MAP, map('child', ref(CONFIG_MAP, owner)));
  await start(api);
  await api.client().resource(CONFIG_MAP, 'default').delete('owner', { propagationPolicy: 'Orphan' });
  await api.settle();
  expect(maps(api)).toEqual(['child']);
  expect(api.get(CONFIG_MAP, 'child').metadata.ownerReferences ?? []).toEqual([]);
});

test('a circle of owners that wait for each other is broken', async () => {
  const api = new FakeApi();
  const a = api.seed(CONFIG_MAP, { metadata: { name: 'a', uid: 'ua' } })[0]!;
  const b = api.seed(CONFIG_MAP, {
    metadata: { name: 'b', uid: 'ub', ownerReferences: [ref(CONFIG_MAP, a, true)] },
  })[0]!;
  api.edit(CONFIG_MAP, 'a', ({ metadata }) => (metadata.ownerReferences = [ref(CONFIG_MAP, b, true)]));
  await start(api);
  await api.client().resource(CONFIG_MAP, 'default').delete('a', { propagationPolicy: 'Foreground' });
  await api.advance(10_000, 1_000);
  expect(maps(api)).toEqual([]);
});

test('an owner of a kind that the server does not know keeps its dependents', async () => {
  const api = new FakeApi();
  api.seed(
    CONFIG_MAP,
    map(
      'child',
      ref({ group: 'x.io', version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true }, absent),
    ),
  );
  await start(api);
  await api.advance(5_000, 1_000);
  expect(maps(api)).toEqual(['child']);
});

test('resources that are defined later are watched, and owned across resources', async () => {
  const api = new FakeApi();
  await start(api);
  const widget = { group: 'x.io', version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true };
  api.define(widget);
  const [owner] = api.seed(widget, { metadata: { name: 'w' } });
  api.seed(CONFIG_MAP, map('child', ref(widget, owner!)));
  await api.advance(31_000, 1_000);
  expect(maps(api)).toEqual(['child']);
  api.remove(widget, 'w');
  await api.settle();
  expect(maps(api)).toEqual([]);
});

test('an owner in another namespace is ignored with an event', async () => {
  const api = new FakeApi();
  const owner = seedOne(api);
  const running = await start(api);
  api.seed(CONFIG_MAP, {
    metadata: { name: 'child', namespace: 'other', ownerReferences: [ref(CONFIG_MAP, owner)] },
  });
  await api.settle();
  expect([maps(api), running.events]).toEqual([
    ['owner'],
    [
      `Warning OwnerRefInvalidNamespace other/child: ownerRef [v1/ConfigMap, namespace: other, name: owner, uid: ${owner.metadata.uid}] does not exist in namespace "other"`,
    ],
  ]);
});
