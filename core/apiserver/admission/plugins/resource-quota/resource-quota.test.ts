import { expect, test } from 'vitest';
import { manualClock } from '../../../../base/manual-clock.ts';
import { conflict, type KubernetesObject } from '../../../../api/meta/index.ts';
import type { V1ResourceQuota } from '../../../../api/schema/index.ts';
import type { AdmissionPlugin } from '../../attributes.ts';
import type { ObjectReader } from '../../../storage/object-reader.ts';
import { verdict, wish, type Wish } from '../../testing/fixtures.ts';
import { resourceQuota } from './resource-quota.ts';

const quota = (
  name: string,
  hard: Record<string, string>,
  used: Record<string, string>,
  spec: object = {},
): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { namespace: 'ns', name, uid: name, resourceVersion: '1' },
  spec: { hard, ...spec },
  status: { hard, used },
});

/** Quotas in etcd, and a cache that stays as it was at the start. */
const world = (...quotas: readonly KubernetesObject[]) => {
  const stored = new Map(quotas.map((one) => [one.metadata!.name!, one]));
  let conflicts: (() => void)[] = [];
  let writes = 0;
  const reader: ObjectReader = {
    get: (_, __, name) => Promise.resolve(stored.get(name)),
    list: () => Promise.resolve(quotas),
  };
  const plugin = resourceQuota({
    reader,
    writer: {
      updateStatus(next) {
        const name = next.metadata!.name!;
        conflicts.shift()?.();
        const revision = stored.get(name)!.metadata!.resourceVersion;
        if (revision !== next.metadata!.resourceVersion)
          return Promise.reject(conflict({ group: '', resource: 'resourcequotas' }, name));
        writes += 1;
        const updated = {
          ...next,
          metadata: { ...next.metadata, resourceVersion: String(Number(revision) + 1) },
        };
        stored.set(name, updated);
        return Promise.resolve(updated);
      },
    },
    clock: manualClock(),
  });
  const elsewhere = (name: string, used: Record<string, string>) => (): void => {
    const old = stored.get(name)! as V1ResourceQuota;
    const resourceVersion = String(Number(old.metadata!.resourceVersion) + 1);
    stored.set(name, {
      ...old,
      metadata: { ...old.metadata, resourceVersion },
      status: { ...old.status, used },
    });
  };
  return {
    plugin,
    interfere: (...runs: readonly (() => void)[]) => (conflicts = [...runs]),
    elsewhere,
    usedOf: (name: string) => (stored.get(name) as V1ResourceQuota).status?.used,
    writes: () => writes,
  };
};

const pod = (name: string, cpu?: string): Wish => ({
  object: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'ns', name },
    spec: { containers: [{ name: 'c', ...(cpu && { resources: { requests: { cpu } } }) }] },
  },
});
const ask = (plugin: AdmissionPlugin, parts: Wish): Promise<string> => verdict(plugin, wish(parts));

test('a pod within the quota is counted, and the rejection of another says by how much it exceeds it', async () => {
  const { plugin, usedOf } = world(quota('q', { cpu: '2', pods: '5' }, { cpu: '1', pods: '1' }));
  expect([await ask(plugin, pod('a', '500m')), await ask(plugin, pod('b', '1'))]).toEqual([
    'ok',
    'pods "b" is forbidden: exceeded quota: q, requested: cpu=1, used: cpu=1500m, limited: cpu=2',
  ]);
  expect(usedOf('q')).toEqual({ cpu: '1500m', pods: '2' });
});

test('a quota on cpu makes every container say what it wants', async () => {
  const { plugin } = world(
    quota('q', { 'limits.cpu': '2', 'requests.cpu': '1' }, { 'limits.cpu': '0', 'requests.cpu': '0' }),
  );
  expect(await ask(plugin, pod('a'))).toBe(
    'pods "a" is forbidden: failed quota: q: must specify limits.cpu for: c; requests.cpu for: c',
  );
});

test('a quota that was never counted lets nothing through', async () => {
  const { plugin } = world(quota('q', { pods: '5' }, {}));
  expect(await ask(plugin, pod('a'))).toBe(
    'pods "a" is forbidden: status unknown for quota: q, resources: pods',
  );
});

test('a dry run is judged and not charged', async () => {
  const { plugin, writes } = world(quota('q', { pods: '1' }, { pods: '0' }));
  const dry = { ...pod('a'), isDryRun: true };
  expect([await ask(plugin, dry), await ask(plugin, dry), writes()]).toEqual(['ok', 'ok', 0]);
});

test('an update is charged by its growth alone', async () => {
  const service = (type: string, resourceVersion = '7'): KubernetesObject => ({
    metadata: { namespace: 'ns', name: 's', resourceVersion },
    spec: { type, ports: [{}, {}] },
  });
  const { plugin, usedOf } = world(
    quota('q', { services: '1', 'services.nodeports': '2' }, { services: '1', 'services.nodeports': '0' }),
  );
  const update = (from: string, to: string): Promise<string> =>
    ask(plugin, { of: 'services', operation: 'UPDATE', object: service(to), oldObject: service(from) });
  expect([await update('ClusterIP', 'NodePort'), await update('NodePort', 'ClusterIP')]).toEqual([
    'ok',
    'ok',
  ]);
  expect(usedOf('q')).toEqual({ services: '1', 'services.nodeports': '2' });
});

test('a quota with a scope is for the pods in it', async () => {
  const { plugin, usedOf } = world(quota('q', { pods: '0' }, { pods: '0' }, { scopes: ['NotBestEffort'] }));
  expect([await ask(plugin, pod('a')), await ask(plugin, pod('b', '1'))]).toEqual([
    'ok',
    'pods "b" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0',
  ]);
  expect(usedOf('q')).toEqual({ pods: '0' });
});

test('anything can be counted by its resource and group', async () => {
  const { plugin } = world(quota('q', { 'count/deployments.apps': '0' }, { 'count/deployments.apps': '0' }));
  const object = { metadata: { namespace: 'ns', name: 'd' } };
  expect([
    await ask(plugin, { of: 'deployments.apps', object }),
    await ask(plugin, { of: 'statefulsets.apps', object }),
  ]).toEqual([
    'deployments.apps "d" is forbidden: exceeded quota: q, requested: count/deployments.apps=1, used: count/deployments.apps=0, limited: count/deployments.apps=0',
    'ok',
  ]);
});

test('requests that arrive together share one write, and no more fit than the quota has', async () => {
  const { plugin, usedOf, writes } = world(quota('q', { pods: '3' }, { pods: '0' }));
  const verdicts = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => ask(plugin, pod(name))));
  expect(verdicts.map((one) => one === 'ok')).toEqual([true, true, true, false, false]);
  expect(usedOf('q')).toEqual({ pods: '3' });
  expect(writes()).toBeLessThan(4);
});

test('a charge that loses against another server is checked again against what is stored', async () => {
  const here = world(quota('q', { pods: '2' }, { pods: '0' }));
  here.interfere(here.elsewhere('q', { pods: '1' }));
  expect([await ask(here.plugin, pod('a')), here.usedOf('q')]).toEqual(['ok', { pods: '2' }]);
  const full = world(quota('q', { pods: '2' }, { pods: '0' }));
  full.interfere(full.elsewhere('q', { pods: '2' }));
  expect(await ask(full.plugin, pod('a'))).toBe(
    'pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2',
  );
});

test('a charge that always loses ends with the conflict', async () => {
  const here = world(quota('q', { pods: '9' }, { pods: '0' }));
  const lose = here.elsewhere('q', { pods: '1' });
  here.interfere(lose, lose, lose, lose, lose);
  expect(await ask(here.plugin, pod('a'))).toMatch(
    /^Operation cannot be fulfilled on resourcequotas "q": the object has been modified/,
  );
});
