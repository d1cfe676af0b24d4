import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { Registry } from '../../base/metrics/index.ts';
import { silentLog } from '../../base/log.ts';
import type { KubernetesObject } from '../../api/meta/index.ts';
import { memoryWriter } from '../bootstrap/testing/memory-writer.ts';
import { DiscoveryCatalog } from '../discovery/catalog.ts';
import type { Follower } from '../informer/internal-informer.ts';
import { Aggregator } from './aggregator.ts';
import { API_SERVICES } from './api-service.ts';
import type { RemoteClient } from './remote-client.ts';
import { apiService, extService, extSlice, readerOf } from './testing/fixtures.ts';

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 200; turn += 1) await Promise.resolve();
};

const start = async (
  existing: readonly KubernetesObject[] = [],
  customReady: Promise<void> = Promise.resolve(),
) => {
  const clock = manualClock();
  const writer = memoryWriter();
  const catalog = new DiscoveryCatalog(36);
  const followers = new Map<string, Follower>();
  let answers = 200;
  const client: RemoteClient = {
    resolve: () => Promise.resolve({ host: '127.9.0.5', port: 1 }),
    backend: () => undefined,
    get: (_service, _endpoint, { path }) =>
      Promise.resolve({
        code: path === '/apis' || path.startsWith('/openapi') ? 404 : answers,
        headers: {},
        body: Buffer.from('{"resources":[{"name":"flunders","kind":"Flunder","verbs":["get"]}]}'),
      }),
  };
  const aggregator = new Aggregator({
    informer: {
      follow(resource, follower) {
        followers.set(resource.resource, follower);
        if (resource.resource === 'apiservices') for (const object of existing) follower.upsert(object);
        return { ready: Promise.resolve(), dispose: () => undefined };
      },
      dispose: () => undefined,
    },
    reader: readerOf({ services: [extService()], slices: [extSlice('127.9.0.5', 1)] }),
    writer,
    catalog,
    client,
    clock,
    log: silentLog,
    metrics: new Registry(),
  });
  await aggregator.start(customReady);
  await turns();
  /** What a watch would bring: the object as it is stored now. */
  const tell = async (name: string): Promise<void> => {
    const object = writer.objects.get(`apiservices.apiregistration.k8s.io//${name}`)!;
    followers.get('apiservices')!.upsert(object);
    await turns();
  };
  return {
    aggregator,
    writer,
    catalog,
    clock,
    followers,
    tell,
    setAnswer: (code: number) => (answers = code),
  };
};

const NAME = 'v1alpha1.wardle.example.com';
const GV = { group: 'wardle.example.com', version: 'v1alpha1' };

test('every built-in group version but the own one is registered', async () => {
  const { aggregator, writer } = await start();
  const names = [...writer.objects.values()].map(({ metadata }) => metadata?.name);
  expect(names).toContain('v1.');
  expect(names).toContain('v2.autoscaling');
  expect(names).not.toContain('v1.apiregistration.k8s.io');
  aggregator.dispose();
});

test('an APIService is checked, routed and published, becomes stale when its server fails, and goes with its object', async () => {
  const { aggregator, writer, catalog, clock, followers, tell, setAnswer } = await start();
  writer.put(API_SERVICES, apiService());
  await tell(NAME);
  expect(aggregator.find(GV.group, GV.version)?.isAvailable).toBe(false);
  await tell(NAME);
  expect([aggregator.find(GV.group, GV.version)?.isAvailable, catalog.find(GV)]).toMatchObject([
    true,
    { freshness: 'Current', resources: [{ plural: 'flunders', kind: 'Flunder' }] },
  ]);

  setAnswer(500);
  clock.advance(30_000);
  await turns();
  await tell(NAME);
  expect([aggregator.find(GV.group, GV.version)?.isAvailable, catalog.find(GV)]).toMatchObject([
    false,
    { freshness: 'Stale', resources: [] },
  ]);

  followers.get('apiservices')!.remove(apiService());
  expect([aggregator.find(GV.group, GV.version), catalog.find(GV)]).toEqual([undefined, undefined]);
  aggregator.dispose();
  expect(clock.pendingCount).toBe(0);
});

test('a custom group version is registered when it is published and removed when it is withdrawn', async () => {
  const { aggregator, writer, catalog, clock, followers, tell } = await start();
  const custom = { group: 'stable.example.com', version: 'v1' };
  catalog.publish({ ...custom, groupPriority: 1000, versionPriority: 100, resources: [] });
  clock.advance(50);
  await turns();
  const key = 'apiservices.apiregistration.k8s.io//v1.stable.example.com';
  expect(writer.objects.get(key)?.metadata?.labels).toEqual({
    'kube-aggregator.kubernetes.io/automanaged': 'true',
  });
  await tell('v1.stable.example.com');
  catalog.withdraw(custom);
  clock.advance(50);
  await turns();
  expect(writer.objects.has(key)).toBe(false);
  followers.get('apiservices')!.remove({ metadata: { name: 'v1.stable.example.com' } });
  aggregator.dispose();
});

test('an APIService of a custom resource is left alone until definitions are known', async () => {
  const existing: KubernetesObject = {
    metadata: {
      name: 'v1.stable.example.com',
      labels: { 'kube-aggregator.kubernetes.io/automanaged': 'true' },
    },
    spec: { group: 'stable.example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 },
  };
  let ready: () => void = () => undefined;
  const customReady = new Promise<void>((resolve) => (ready = resolve));
  const { aggregator, writer, catalog } = await start([existing], customReady);
  expect(writer.writes).toEqual([]);
  const custom = { group: 'stable.example.com', version: 'v1' };
  catalog.publish({ ...custom, groupPriority: 1000, versionPriority: 100, resources: [] });
  ready();
  await turns();
  expect(writer.writes.filter((write) => write.includes('stable.example.com'))).toEqual([]);
  expect(writer.writes.length).toBeGreaterThan(10);
  aggregator.dispose();
});
