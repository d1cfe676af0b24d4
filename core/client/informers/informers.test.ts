import { expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import { controllerOf, objectKey } from '../../api/meta/object-meta.ts';
import { forbidden } from '../../api/meta/status-errors.ts';
import type { KubernetesObject } from '../../api/meta/object-meta.ts';
import { CONFIG_MAP, POD, type ConfigMap, type Pod } from '../kinds.ts';
import { FakeApi } from '../testing/index.ts';
import { InformerFactory } from './informer-factory.ts';
import type { Informer } from './informer.ts';

const map = (name: string, data?: Record<string, string>): ConfigMap => ({
  metadata: { name, namespace: 'default' },
  ...(data && { data }),
});

const setUp = (options: { watchList?: boolean } = {}) => {
  const api = new FakeApi(options);
  const registry = new Registry();
  const { clock, random } = api;
  const factory = new InformerFactory({
    client: api.client(),
    clock,
    random,
    log: silentLog,
    registry,
    freeze: true,
  });
  return { api, clock, registry, factory };
};

const logOf = <T extends KubernetesObject>(informer: Informer<T>): string[] => {
  const log: string[] = [];
  informer.addHandler({
    added: (o, { isInInitialList }) => log.push(`+${objectKey(o)}${isInInitialList ? ' initial' : ''}`),
    updated: (a, b) => log.push(`~${objectKey(b)} ${a.metadata.uid === b.metadata.uid ? 'same' : 'other'}`),
    deleted: (o, { finalStateUnknown }) =>
      log.push(`-${objectKey(o)}${finalStateUnknown ? ' tombstone' : ''}`),
  });
  return log;
};

test.each([true, false])(
  'existing, added, changed and deleted objects are reported (watchList %s)',
  async (watchList) => {
    const { api, factory } = setUp({ watchList });
    api.seed(CONFIG_MAP, map('a'), map('b'));
    const informer = factory.informer(CONFIG_MAP);
    const log = logOf(informer);
    factory.start();
    await factory.whenSynced();
    await api.settle();
    api.seed(CONFIG_MAP, map('c'));
    api.edit(CONFIG_MAP, 'a', (o) => (o.data = { x: '1' }));
    api.remove(CONFIG_MAP, 'b');
    await api.settle();
    expect(log).toEqual([
      '+default/a initial',
      '+default/b initial',
      '+default/c',
      '~default/a same',
      '-default/b',
    ]);
    expect(informer.store.find('default', 'a')?.data).toEqual({ x: '1' });
    expect(api.requests.map(({ verb }) => verb)).toEqual(watchList ? ['watch'] : ['watch', 'list', 'watch']);
    await factory.stop();
  },
);

test('a broken watch continues where it was, without a list', async () => {
  const { api, factory } = setUp();
  const informer = factory.informer(CONFIG_MAP);
  const log = logOf(informer);
  factory.start();
  await api.settle();
  api.endWatches('cut');
  api.seed(CONFIG_MAP, map('a'));
  await api.advance(2_000);
  expect(log).toEqual(['+default/a']);
  expect(informer.health()).toMatchObject({ relistsCount: 0, reconnectsCount: 1, phase: 'watching' });
  await factory.stop();
});

test('after 410 it lists again and finds out what it missed', async () => {
  const { api, factory } = setUp();
  api.seed(CONFIG_MAP, map('gone'), map('remade'), map('same'));
  const informer = factory.informer(CONFIG_MAP);
  const log = logOf(informer);
  factory.start();
  await api.settle();
  log.length = 0;
  api.endWatches('cut');
  await api.settle();
  api.remove(CONFIG_MAP, 'gone');
  api.remove(CONFIG_MAP, 'remade');
  api.seed(CONFIG_MAP, map('remade'));
  api.compact();
  await api.advance(5_000, 1_000);
  expect(log).toEqual(['~default/remade other', '-default/gone tombstone']);
  expect(informer.health()).toMatchObject({ relistsCount: 1, lastError: undefined });
  await factory.stop();
});

test('a server whose history went back is listed again', async () => {
  const { api, factory } = setUp();
  const informer = factory.informer(CONFIG_MAP);
  factory.start();
  await api.settle();
  const restored = new FakeApi();
  restored.seed(CONFIG_MAP, map('from-backup'));
  for (let i = 0; i < 5; i += 1) api.seed(CONFIG_MAP, map(`lost-${i}`));
  await api.settle();
  expect(informer.store.size).toBe(5);
  // The connection is the same, the cluster behind it another.
  api.send = (request) => restored.send(request);
  api.endWatches('cut');
  for (let i = 0; i < 5; i += 1) {
    await api.advance(1_000);
    restored.bookmark();
    await api.settle();
  }
  expect(informer.store.keys()).toEqual(['default/from-backup']);
  await factory.stop();
});

test('a failing server is asked less and less often, and the failure can be seen', async () => {
  const { api, factory } = setUp();
  const informer = factory.informer(CONFIG_MAP);
  const phases: string[] = [];
  informer.onHealth(({ phase }) => phases.push(phase));
  api.failNext({ verb: 'watch' }, forbidden({ group: '', resource: 'configmaps' }, '', 'no'), 4);
  factory.start();
  await api.advance(1_700, 100);
  expect(api.requests.length).toBe(2);
  expect(informer.health()).toMatchObject({ synced: false, lastError: 'configmaps is forbidden: no' });
  await api.advance(30_000, 100);
  expect([api.requests.length, informer.synced, phases.at(-1)]).toEqual([5, true, 'watching']);
  await factory.stop();
});

test('a watch that its server does not end is ended and opened again', async () => {
  const { api, factory } = setUp();
  const informer = factory.informer(CONFIG_MAP);
  const send = api.send.bind(api);
  api.send = (request) => send({ ...request, path: request.path.replace(/&timeoutSeconds=\d+/, '') });
  factory.start();
  await api.settle();
  await api.advance(3_600_000, 10_000);
  expect(informer.health().reconnectsCount).toBeGreaterThanOrEqual(5);
  expect([informer.health().relistsCount, api.watchesCount]).toEqual([0, 1]);
  await factory.stop();
});

test('all who ask for the same share one watch, and late handlers get what is there', async () => {
  const { api, factory } = setUp();
  api.seed(CONFIG_MAP, map('a'));
  const first = factory.informer(CONFIG_MAP);
  expect(factory.informer(CONFIG_MAP)).toBe(first);
  expect(factory.informer(CONFIG_MAP, { namespace: 'kube-system' })).not.toBe(first);
  factory.start();
  await factory.whenSynced();
  expect(api.watchesCount).toBe(2);
  expect(logOf(first)).toEqual(['+default/a initial']);
  await factory.stop();
  expect(api.watchesCount).toBe(0);
});

test('objects are found by namespace and by index, also by one that is added late', async () => {
  const { api, factory } = setUp();
  const owned = (name: string, uid: string): Pod => ({
    metadata: {
      name,
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x', uid, controller: true }],
    },
    spec: { containers: [], nodeName: 'n1' },
  });
  api.seed(POD, owned('a', 'u1'), owned('b', 'u2'));
  const pods = factory.informer(POD, { indexers: { owner: (pod) => [controllerOf(pod)?.uid ?? ''] } });
  factory.start();
  await factory.whenSynced();
  pods.addIndexers({ node: (pod) => [pod.spec?.nodeName ?? ''] });
  const names = (found: { metadata: { name: string } }[]) => found.map(({ metadata }) => metadata.name);
  expect(names(pods.store.byIndex('owner', 'u2'))).toEqual(['b']);
  expect(names(pods.store.byIndex('node', 'n1'))).toEqual(['a', 'b']);
  api.edit(POD, 'b', (pod) => (pod.metadata.ownerReferences = []));
  api.remove(POD, 'a');
  await api.settle();
  expect([pods.store.indexValues('owner'), names(pods.store.inNamespace('default'))]).toEqual([[''], ['b']]);
  await factory.stop();
});

test('a transform makes objects smaller, and a handler that throws disturbs no one', async () => {
  const { api, factory } = setUp();
  const informer = factory.informer(CONFIG_MAP, {
    transform: (object) => ({ ...object, data: { size: String(Object.keys(object.data ?? {}).length) } }),
  });
  informer.addHandler({
    added: () => {
      throw new Error('mine');
    },
  });
  const log = logOf(informer);
  factory.start();
  api.seed(CONFIG_MAP, map('a', { x: '1', y: '2' }));
  await api.settle();
  expect([informer.store.get('default/a')?.data, log.length]).toEqual([{ size: '2' }, 1]);
  await factory.stop();
});

test('a resync shows every object again to the handler that asked', async () => {
  const { api, clock, factory } = setUp();
  api.seed(CONFIG_MAP, map('a'));
  const informer = factory.informer(CONFIG_MAP);
  let resyncs = 0;
  const registration = informer.addHandler({ updated: () => (resyncs += 1) }, { resyncMs: 1000 });
  factory.start();
  await api.settle();
  expect(registration.synced).toBe(true);
  clock.advance(3000);
  registration.dispose();
  clock.advance(3000);
  expect(resyncs).toBe(3);
  await factory.stop();
});

test('metrics count lists and watches', async () => {
  const { api, factory, registry } = setUp();
  factory.informer(POD);
  factory.start();
  await api.settle();
  expect(registry.expose()).toContain('reflector_watches_total{name="pods"} 1\n');
  await factory.stop();
});
