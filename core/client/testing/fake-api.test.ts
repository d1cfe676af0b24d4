import { expect, test } from 'vitest';
import { isAlreadyExists, isConflict, isExpired, isInvalid, isNotFound } from '../../api/meta/status.ts';
import { tooManyRequests } from '../../api/meta/status-errors.ts';
import type { WatchEvent } from '../client.ts';
import { CONFIG_MAP, DEPLOYMENT, NAMESPACE, NODE, POD, type ConfigMap, type Pod } from '../kinds.ts';
import { FakeApi } from './index.ts';

const configMap = (name: string, data: Record<string, string> = {}): ConfigMap => ({
  metadata: { name, namespace: 'default' },
  data,
});
const pod = (name: string, more: Partial<Pod> = {}): Pod => ({
  metadata: { name, namespace: 'default' },
  spec: { containers: [{ name: 'a', image: 'b' }] },
  ...more,
});

const collect = async (events: AsyncIterable<WatchEvent<ConfigMap>>, count: number): Promise<string[]> => {
  const seen: string[] = [];
  for await (const { type, object } of events) {
    seen.push(`${type} ${object.metadata.name ?? ''}@${object.metadata.resourceVersion}`);
    if (seen.length === count) break;
  }
  return seen;
};

test('a created object has a name, a uid, a version and its defaults', async () => {
  const api = new FakeApi();
  const created = await api
    .client()
    .resource(POD, 'default')
    .create({ metadata: { generateName: 'web-' }, spec: { containers: [{ name: 'a', image: 'b' }] } });
  expect(created).toMatchObject({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: expect.stringMatching(/^web-.{5}$/), namespace: 'default', generation: 1 },
    spec: { restartPolicy: 'Always', terminationGracePeriodSeconds: 30 },
    status: { phase: 'Pending' },
  });
  await expect(api.client().resource(POD).create(created)).rejects.toSatisfy(isAlreadyExists);
});

test('writes with an old version conflict, and a write that changes nothing keeps the version', async () => {
  const api = new FakeApi();
  const maps = api.client().resource(CONFIG_MAP, 'default');
  const first = await maps.create(configMap('a', { x: '1' }));
  const second = await maps.update({ ...first, data: { x: '2' } });
  await expect(maps.update({ ...first, data: { x: '3' } })).rejects.toSatisfy(isConflict);
  const same = await maps.update(second);
  expect(same.metadata.resourceVersion).toBe(second.metadata.resourceVersion);
  await expect(maps.get('b')).rejects.toSatisfy(isNotFound);
  expect(await maps.find('b')).toBeUndefined();
});

test('spec and status are written through separate doors, and only the spec counts generations', async () => {
  const api = new FakeApi();
  api.seed(DEPLOYMENT, {
    metadata: { name: 'web' },
    spec: { replicas: 1, selector: { matchLabels: { a: 'b' } }, template: {} },
  });
  const deployments = api.client().resource(DEPLOYMENT, 'default');
  const read = await deployments.get('web');
  const updated = await deployments.update({
    ...read,
    spec: { ...read.spec!, replicas: 2 },
    status: { replicas: 9 },
  });
  expect(updated.status).toBeUndefined();
  expect(updated.metadata.generation).toBe(2);
  const status = await deployments.updateStatus({
    ...updated,
    spec: { ...read.spec!, replicas: 7 },
    status: { replicas: 2, observedGeneration: 2 },
  });
  expect([status.spec?.replicas, status.status?.replicas, status.metadata.generation]).toEqual([2, 2, 2]);
  await deployments.updateScale('web', { metadata: {}, spec: { replicas: 5 } });
  expect(await deployments.getScale('web')).toMatchObject({
    spec: { replicas: 5 },
    status: { replicas: 2, selector: 'a=b' },
  });
});

test('all four kinds of patch arrive', async () => {
  const api = new FakeApi();
  const pods = api.client().resource(POD, 'default');
  const { metadata } = await pods.create(pod('a'));
  await pods.patch('a', { type: 'merge', body: { metadata: { labels: { m: '1' } } } });
  await pods.patch('a', { type: 'json', body: [{ op: 'add', path: '/metadata/labels/j', value: '1' }] });
  const body = { spec: { containers: [{ name: 'a', env: [{ name: 'S', value: '1' }] }] } };
  await pods.patch('a', { type: 'strategic', body });
  await pods.apply({ metadata: { name: 'a', labels: { applied: '1' } } }, { fieldManager: 'test' });
  const result = api.get(POD, 'a');
  expect(result.metadata.labels).toEqual({ m: '1', j: '1', applied: '1' });
  expect(result.spec?.containers).toMatchObject([
    { name: 'a', image: 'b', env: [{ name: 'S', value: '1' }] },
  ]);
  await expect(
    pods.patch('a', { type: 'merge', body: { metadata: { uid: `${metadata.uid}x` } } }),
  ).rejects.toSatisfy(isInvalid);
});

test('finalizers hold an object until the last one is taken off', async () => {
  const api = new FakeApi();
  const maps = api.client().resource(CONFIG_MAP, 'default');
  await maps.create({ metadata: { name: 'a', finalizers: ['x/y'] } });
  const held = await maps.delete('a');
  expect(held).toMatchObject({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
  await maps.patch('a', { type: 'merge', body: { metadata: { finalizers: null } } });
  expect(api.find(CONFIG_MAP, 'a')).toBeUndefined();
});

test('a pod on a node waits for its kubelet, another one goes immediately', async () => {
  const api = new FakeApi();
  api.seed(POD, pod('waiting'), pod('bound'));
  const pods = api.client().resource(POD, 'default');
  const binding = { metadata: { name: 'bound' }, target: { kind: 'Node', name: 'n1' } };
  await pods.createSubresource('bound', 'binding', binding);
  await expect(pods.createSubresource('bound', 'binding', binding)).rejects.toSatisfy(isConflict);
  await pods.delete('waiting');
  await pods.delete('bound');
  expect(api.list(POD).map(({ metadata }) => [metadata.name, metadata.deletionGracePeriodSeconds])).toEqual([
    ['bound', 30],
  ]);
  await pods.delete('bound', { gracePeriodSeconds: 0 });
  expect(api.list(POD)).toEqual([]);
});

test('a namespace stays until its finalizers are gone', async () => {
  const api = new FakeApi();
  const namespaces = api.client().resource(NAMESPACE);
  await namespaces.create({ metadata: { name: 'x' } });
  await namespaces.delete('x');
  const terminating = await namespaces.get('x');
  expect(terminating.status?.phase).toBe('Terminating');
  await namespaces.updateSubresource('x', 'finalize', { ...terminating, spec: { finalizers: [] } });
  expect(api.find(NAMESPACE, 'x')).toBeUndefined();
});

test('a watch continues from a version, filters, and says 410 after compaction', async () => {
  const api = new FakeApi();
  const maps = api.client().resource(CONFIG_MAP, 'default');
  const first = await maps.create(configMap('a'));
  api.seed(CONFIG_MAP, configMap('b'), { metadata: { name: 'c', namespace: 'other' } });
  const watch = await maps.watch({ resourceVersion: first.metadata.resourceVersion });
  await maps.delete('a');
  expect(await collect(watch, 2)).toEqual(['ADDED b@3', 'DELETED a@5']);
  api.compact();
  await expect(maps.watch({ resourceVersion: '2' })).rejects.toSatisfy(isExpired);
  expect(api.watchesCount).toBe(0);
});

test('an object that leaves a selection is deleted for its watch', async () => {
  const api = new FakeApi();
  const maps = api.client().resource(CONFIG_MAP, 'default');
  const watch = await maps.watch({ labelSelector: 'on=1', resourceVersion: api.resourceVersion });
  api.seed(CONFIG_MAP, { metadata: { name: 'a', labels: { on: '1' } } });
  api.edit(CONFIG_MAP, 'a', (object) => (object.metadata.labels = {}));
  api.edit(CONFIG_MAP, 'a', (object) => (object.metadata.labels = { on: '1' }));
  expect(await collect(watch, 3)).toEqual(['ADDED a@2', 'DELETED a@3', 'ADDED a@4']);
});

test('lists come in pages, by fields and labels', async () => {
  const api = new FakeApi();
  api.seed(CONFIG_MAP, ...['a', 'b', 'c', 'd', 'e'].map((name) => configMap(name)));
  const names: string[] = [];
  for await (const { metadata } of api.client().resource(CONFIG_MAP).iterate({ limit: 2 }))
    names.push(metadata.name);
  expect(names).toEqual(['a', 'b', 'c', 'd', 'e']);
  api.seed(POD, pod('x', { spec: { nodeName: 'n1', containers: [] } }), pod('y'));
  const list = await api.client().resource(POD).list({ fieldSelector: 'spec.nodeName=n1' });
  expect(list.items.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([['Pod', 'x']]);
});

test('requests can be set to fail, and written objects can be read', async () => {
  const api = new FakeApi();
  const nodes = api.client().resource(NODE);
  api.failNext({ verb: 'create', plural: 'nodes' }, tooManyRequests(1));
  const created = nodes.create({ metadata: { name: 'n1' } });
  await api.advance(1000);
  await created;
  await nodes.patchStatus('n1', { type: 'merge', body: { status: { phase: 'x' } } });
  expect(api.writes()).toEqual(['create nodes n1', 'create nodes n1', 'patch nodes/status n1']);
});
