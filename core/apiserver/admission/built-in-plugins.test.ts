import { afterEach, expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { defaultGates, releaseOf } from '../../api/releases/index.ts';
import { silentLog } from '../../base/log.ts';
import { seededRandom } from '../../base/random.ts';
import type { KubernetesObject } from '../../api/meta/index.ts';
import type { V1Pod } from '../../api/schema/index.ts';
import { noOpinion } from '../authz/authorizer.ts';
import { registryWriter } from '../bootstrap/object-writer.ts';
import { createRegistry } from '../registry/create-registry.ts';
import { MemoryStore } from '../registry/testing/fixtures.ts';
import { builtInPlugins } from './built-in-plugins.ts';
import { createAdmissionChain } from './chain.ts';
import { PLUGIN_ORDER, selectPlugins } from './selection.ts';
import { idlePluginParts } from './testing/dynamic.ts';
import { wish } from './testing/fixtures.ts';

const MINOR = 36;
const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

/** Every plugin but the one that denies all, over the real registry with a store in memory. */
const world = async () => {
  const [clock, random] = [manualClock(), seededRandom(3)];
  const store = new MemoryStore();
  const registry = createRegistry({ store, minor: MINOR, clock, random, log: silentLog });
  registry.start();
  closing.push(() => registry.close());
  const { signal } = new AbortController();
  const writer = registryWriter({ registry, clock, minor: MINOR, signal });
  const create = async (plural: string, object: KubernetesObject): Promise<void> => {
    await writer.create({ group: '', resource: plural }, { apiVersion: 'v1', ...object });
  };
  const namespaced = (name: string) => ({ metadata: { namespace: 'ns', name } });
  await create('namespaces', {
    kind: 'Namespace',
    metadata: { name: 'ns', labels: { 'pod-security.kubernetes.io/enforce': 'baseline' } },
  });
  await create('serviceaccounts', { kind: 'ServiceAccount', ...namespaced('default') });
  await create('limitranges', {
    kind: 'LimitRange',
    ...namespaced('range'),
    spec: { limits: [{ type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '500m' } }] },
  });
  const hard = { pods: '1', 'requests.cpu': '1' };
  await create('resourcequotas', { kind: 'ResourceQuota', ...namespaced('quota'), spec: { hard } });
  const quotas = { group: '', resource: 'resourcequotas' };
  const quota = (await writer.get(quotas, 'ns', 'quota'))!;
  const used = { pods: '0', 'requests.cpu': '0' };
  await writer.update(quotas, { ...quota, status: { hard, used } }, 'status');
  const { reader, quotaWriter } = registry;
  const names = selectPlugins(
    PLUGIN_ORDER.filter((name) => !['AlwaysDeny', 'ImagePolicyWebhook'].includes(name)),
    [],
  );
  const authorizer = { authorize: () => noOpinion() };
  const plugins = builtInPlugins(names, {
    reader,
    quotaWriter,
    authorizer,
    ...idlePluginParts(reader, authorizer, clock),
    clock,
    random,
    minor: MINOR,
    gates: defaultGates(releaseOf(MINOR)),
  });
  return { chain: createAdmissionChain(plugins, { clock }), writer };
};

const pod = (name: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ns', name },
  spec: { containers: [{ name: 'c', image: 'i' }] },
});

test('the plugins together complete a pod, charge it once and refuse the next', async () => {
  const { chain, writer } = await world();
  const object = pod('first');
  await chain.admit(wish({ object }));
  await chain.validate(wish({ object }));
  const { spec } = object as V1Pod;
  expect(spec).toMatchObject({
    serviceAccountName: 'default',
    priority: 0,
    containers: [
      { imagePullPolicy: 'Always', resources: { limits: { cpu: '1' }, requests: { cpu: '500m' } } },
    ],
  });
  expect(spec?.tolerations).toHaveLength(3);
  const quota = await writer.get({ group: '', resource: 'resourcequotas' }, 'ns', 'quota');
  expect(quota?.['status']).toMatchObject({ used: { pods: '1', 'requests.cpu': '500m' } });

  const next = pod('second');
  await chain.admit(wish({ object: next }));
  await expect(chain.validate(wish({ object: next }))).rejects.toThrow(
    'pods "second" is forbidden: exceeded quota: quota, requested: pods=1, used: pods=1, limited: pods=1',
  );
});
