import { afterEach, beforeEach, expect, test } from 'vitest';
import { isStatusError, type KubernetesObject } from '../../../api/meta/index.ts';
import type { RestStorage } from '../rest-storage.ts';
import {
  changing,
  deleting,
  NO_OPTIONS,
  podOf,
  refusalOf,
  scopeOf,
  storageIn,
  testRegistry,
  type TestRegistry,
} from '../testing/fixtures.ts';

let opened: TestRegistry;
let pods: Required<RestStorage>;
beforeEach(() => {
  opened = testRegistry();
  pods = storageIn(opened, '', 'pods');
});
afterEach(() => opened.registry.close());

const read = async (name: string): Promise<KubernetesObject> =>
  (await pods.get(scopeOf(), name, { resourceVersion: '' })).object;
const statusOf = (object: KubernetesObject): Record<string, unknown> =>
  object['status'] as Record<string, unknown>;
const bind = (name: string, node: string, more: object = {}) =>
  storageIn(opened, '', 'pods', 'binding').createNamed(
    scopeOf(),
    name,
    { metadata: { name, ...more }, target: { kind: 'Node', name: node } },
    NO_OPTIONS,
  );
const setStatus = (name: string, status: object) =>
  storageIn(opened, '', 'pods', 'status').update(
    scopeOf(),
    name,
    changing((now) => ({ ...now, status: { ...statusOf(now), ...status } })),
  );

test('a new pod is pending, counted and classed, whatever it says of itself', async () => {
  const { object } = await pods.create(
    scopeOf(),
    { ...podOf('p'), status: { phase: 'Running', podIP: '1.2.3.4' } },
    NO_OPTIONS,
  );
  expect([object['status'], object.metadata?.generation]).toEqual([
    { phase: 'Pending', qosClass: 'BestEffort' },
    1,
  ]);
});

test('a name that makes a strange host name is warned of', async () => {
  const warnings: string[] = [];
  await pods.create(scopeOf('default', warnings), podOf('a.b'), NO_OPTIONS);
  expect(warnings).toEqual([
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
  ]);
});

test('a pod is bound once', async () => {
  await pods.create(scopeOf(), podOf('p', {}, { annotations: { a: '1' } }), NO_OPTIONS);
  const answer = await bind('p', 'n1', { annotations: { b: '2' } });
  const pod = await read('p');
  const { conditions } = statusOf(pod) as { conditions: Record<string, unknown>[] };
  expect([
    answer['status'],
    (pod['spec'] as { nodeName: string }).nodeName,
    pod.metadata?.annotations,
    conditions.map(({ type, status }) => `${String(type)}=${String(status)}`),
    await refusalOf(bind('p', 'n2')),
    await refusalOf(bind('q', 'n2')),
  ]).toEqual([
    'Success',
    'n1',
    { a: '1', b: '2' },
    ['PodScheduled=True'],
    '409 Conflict: Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"',
    '404 NotFound: pods "q" not found',
  ]);
});

test('of two schedulers that bind a pod one wins', async () => {
  await pods.create(scopeOf(), podOf('p'), NO_OPTIONS);
  const outcomes = await Promise.all([refusalOf(bind('p', 'n1')), refusalOf(bind('p', 'n2'))]);
  expect(outcomes.filter((one) => one === 'no error')).toHaveLength(1);
});

test('a running pod goes in two steps: marked, then deleted by its kubelet', async () => {
  await pods.create(scopeOf(), podOf('p'), NO_OPTIONS);
  await bind('p', 'n1');
  const first = await pods.delete(scopeOf(), 'p', deleting());
  const status = await setStatus('p', { phase: 'Running' });
  const last = await pods.delete(scopeOf(), 'p', deleting({ gracePeriodSeconds: 0 }));
  expect([
    first.isGone,
    first.held.object.metadata?.deletionGracePeriodSeconds,
    status.held.object.metadata?.deletionTimestamp,
    last.isGone,
    await refusalOf(read('p')),
  ]).toEqual([
    false,
    30,
    first.held.object.metadata?.deletionTimestamp,
    true,
    '404 NotFound: pods "p" not found',
  ]);
});

const budget = (name: string, status: object): KubernetesObject => ({
  metadata: { name },
  spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
  status,
});
const guard = async (name: string, status: object): Promise<void> => {
  const budgets = storageIn(opened, 'policy', 'poddisruptionbudgets');
  await budgets.create(scopeOf(), budget(name, {}), NO_OPTIONS);
  await storageIn(opened, 'policy', 'poddisruptionbudgets', 'status').update(
    scopeOf(),
    name,
    changing((now) => ({
      ...now,
      status: {
        observedGeneration: 1,
        currentHealthy: 2,
        desiredHealthy: 1,
        expectedPods: 2,
        disruptionsAllowed: 0,
        ...status,
      },
    })),
  );
};
const evict = (name: string, options: object = {}) =>
  storageIn(opened, '', 'pods', 'eviction').createNamed(
    scopeOf(),
    name,
    { metadata: { name }, ...options },
    NO_OPTIONS,
  );
const runPod = async (name: string, ready = true): Promise<void> => {
  await pods.create(scopeOf(), podOf(name, {}, { labels: { app: 'web' } }), NO_OPTIONS);
  await bind(name, 'n1');
  await setStatus(name, {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
  });
};

test('an eviction is charged to the budget of the pod, once for each that may go', async () => {
  await guard('b', { disruptionsAllowed: 1 });
  await runPod('p1');
  await runPod('p2');
  await evict('p1');
  const gone = await read('p1');
  const second = await refusalOf(evict('p2'));
  const { object } = await storageIn(opened, 'policy', 'poddisruptionbudgets').get(scopeOf(), 'b', {
    resourceVersion: '',
  });
  const status = statusOf(object);
  expect([
    typeof gone.metadata?.deletionTimestamp,
    (statusOf(gone)['conditions'] as { type: string; reason?: string }[]).find(
      ({ type }) => type === 'DisruptionTarget',
    )?.reason,
    status['disruptionsAllowed'],
    Object.keys(status['disruptedPods'] as object),
    second,
  ]).toEqual([
    'string',
    'EvictionByEvictionAPI',
    0,
    ['p1'],
    "429 TooManyRequests: Cannot evict pod as it would violate the pod's disruption budget.",
  ]);
});

test('why an eviction is refused is reported with it', async () => {
  await guard('b', { currentHealthy: 1, desiredHealthy: 1 });
  await runPod('p1');
  const causes = await evict('p1').catch((error: unknown) =>
    isStatusError(error) ? error.details?.causes : error,
  );
  await guard('c', {});
  expect([causes, await refusalOf(evict('p1'))]).toEqual([
    [
      {
        reason: 'DisruptionBudget',
        message: 'The disruption budget b needs 1 healthy pods and has 1 currently',
      },
    ],
    '500 : This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
  ]);
});

test('a pod that is not ready goes without being charged while enough others are healthy', async () => {
  await guard('b', { currentHealthy: 1, desiredHealthy: 1 });
  await runPod('p1', false);
  await evict('p1');
  const { object } = await storageIn(opened, 'policy', 'poddisruptionbudgets').get(scopeOf(), 'b', {
    resourceVersion: '',
  });
  expect([typeof (await read('p1')).metadata?.deletionTimestamp, statusOf(object)['disruptedPods']]).toEqual([
    'string',
    undefined,
  ]);
});

test('a dry eviction asks the budget and takes nothing', async () => {
  await guard('b', { disruptionsAllowed: 1 });
  await runPod('p1');
  const { writes } = opened.store;
  await evict('p1', { deleteOptions: { dryRun: ['All'] } });
  expect(opened.store.writes).toBe(writes);
});

test('a debug container is added through its own endpoint and nothing else with it', async () => {
  await pods.create(scopeOf(), podOf('p'), NO_OPTIONS);
  const debug = {
    name: 'd',
    image: 'busybox',
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'Always',
  };
  const { held } = await storageIn(opened, '', 'pods', 'ephemeralcontainers').update(
    scopeOf(),
    'p',
    changing((now) => ({
      ...now,
      metadata: { ...now.metadata, labels: { x: 'y' } },
      spec: { ...(now['spec'] as object), nodeName: 'elsewhere', ephemeralContainers: [debug] },
    })),
  );
  const spec = held.object['spec'] as { nodeName?: string; ephemeralContainers: { name: string }[] };
  expect([
    spec.nodeName,
    spec.ephemeralContainers[0]?.name,
    held.object.metadata?.labels,
    held.object.metadata?.generation,
  ]).toEqual([undefined, 'd', undefined, 2]);
});

test('a pod is resized in place, and in nothing but cpu and memory', async () => {
  const sized = (cpu: string) => ({
    name: 'c',
    image: 'i',
    resources: { requests: { cpu }, limits: { cpu: '2' } },
  });
  await pods.create(scopeOf(), podOf('p', { containers: [sized('1')] }), NO_OPTIONS);
  const resize = (change: (container: Record<string, unknown>) => unknown[]) =>
    storageIn(opened, '', 'pods', 'resize').update(
      scopeOf(),
      'p',
      changing((now) => {
        const spec = now['spec'] as { containers: Record<string, unknown>[] };
        return { ...now, spec: { ...spec, nodeName: 'elsewhere', containers: change(spec.containers[0]!) } };
      }),
    );
  const { held } = await resize((container) => [
    { ...container, image: 'other', resources: sized('1500m').resources },
  ]);
  const { containers, nodeName } = held.object['spec'] as {
    nodeName?: string;
    containers: { image: string; resources: { requests: object } }[];
  };
  expect([
    nodeName,
    containers[0]?.image,
    containers[0]?.resources.requests,
    held.object.metadata?.generation,
    await refusalOf(resize((container) => [container, { ...container, name: 'd' }])),
    await refusalOf(resize((container) => [{ ...container, resources: {} }])),
  ]).toEqual([
    undefined,
    'i',
    { cpu: '1500m' },
    2,
    '422 Invalid: Pod "p" is invalid: spec.containers: Forbidden: containers may not be added or removed on resize',
    '422 Invalid: Pod "p" is invalid: [spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing, spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed, spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed]',
  ]);
});
