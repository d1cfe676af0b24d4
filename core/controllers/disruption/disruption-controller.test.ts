import { expect, test } from 'vitest';
import { formatTime } from '../../api/meta/index.ts';
import { DEPLOYMENT, POD, POD_DISRUPTION_BUDGET, REPLICA_SET, type Pod } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { disruptionController } from './disruption-controller.ts';

const owner = (kind: string, name: string, uid: string) => [
  { apiVersion: 'apps/v1', kind, name, uid, controller: true },
];
const pod = (name: string, ready = true, rs: string | undefined = 'rs'): Pod => ({
  metadata: {
    name,
    labels: { app: 'web' },
    ...(rs && { ownerReferences: owner('ReplicaSet', rs, `u-${rs}`) }),
  },
  spec: { containers: [] },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
});
const fixture = async (spec: object, pods: Pod[], replicas = 4) => {
  const api = new FakeApi();
  api.seed(DEPLOYMENT, {
    metadata: { name: 'web', uid: 'u-web' },
    spec: { replicas, selector: {}, template: {} },
  });
  api.seed(REPLICA_SET, {
    metadata: { name: 'rs', uid: 'u-rs', ownerReferences: owner('Deployment', 'web', 'u-web') },
    spec: { replicas: 1, selector: {}, template: {} },
  });
  api.seed(POD, ...pods);
  api.seed(POD_DISRUPTION_BUDGET, {
    metadata: { name: 'b' },
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
  });
  return { api, running: await startOnFake(api, disruptionController) };
};
const numbers = (api: FakeApi) => {
  const { expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed } =
    api.get(POD_DISRUPTION_BUDGET, 'b').status ?? {};
  return [expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed];
};

test.each([
  ['a number that must stay', { minAvailable: 1 }, [3, 1, 2, 1]],
  ['a share that must stay, rounded up, of what the deployment wants', { minAvailable: '30%' }, [4, 2, 2, 0]],
  ['a number that may be missing', { maxUnavailable: 3 }, [4, 1, 2, 1]],
  ['a share that may be missing', { maxUnavailable: '50%' }, [4, 2, 2, 0]],
])('%s', async (_, spec, expected) => {
  const { api, running } = await fixture(spec, [pod('a'), pod('b'), pod('c', false)]);
  expect(numbers(api)).toEqual(expected);
  const allowed = (expected[3] ?? 0) > 0;
  expect(api.get(POD_DISRUPTION_BUDGET, 'b').status).toMatchObject({
    observedGeneration: 1,
    conditions: [
      {
        type: 'DisruptionAllowed',
        status: allowed ? 'True' : 'False',
        reason: allowed ? 'SufficientPods' : 'InsufficientPods',
      },
    ],
  });
  await running.stop();
});

test('an eviction that was granted counts until the pod is gone, or two minutes have passed', async () => {
  const { api, running } = await fixture({ minAvailable: 1 }, [pod('a'), pod('b')]);
  expect(numbers(api)[3]).toBe(1);
  api.edit(POD_DISRUPTION_BUDGET, 'b', ({ status }) => {
    Object.assign(status!, { disruptedPods: { a: formatTime(api.clock.nowMs()) }, disruptionsAllowed: 0 });
  });
  await api.settle();
  expect(numbers(api)).toEqual([2, 1, 1, 0]);
  await api.advance(121_000);
  expect([numbers(api), api.get(POD_DISRUPTION_BUDGET, 'b').status?.disruptedPods, running.events]).toEqual([
    [2, 1, 2, 1],
    undefined,
    ["Warning NotDeleted default/a: Pod was expected by PDB default/b to be deleted but it wasn't"],
  ]);
  await running.stop();
});

test('a pod whose controller is not found allows nothing', async () => {
  const { api, running } = await fixture({ maxUnavailable: 1 }, [pod('a', true, 'gone')]);
  expect(api.get(POD_DISRUPTION_BUDGET, 'b').status).toMatchObject({
    disruptionsAllowed: 0,
    conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed' }],
  });
  await running.stop();
});

test('unmanaged pods are reported where a percentage is required', async () => {
  const { running } = await fixture({ maxUnavailable: 1 }, [
    { ...pod('a'), metadata: { name: 'a', labels: { app: 'web' } } },
  ]);
  expect(running.events[0]).toContain(
    'Warning UnmanagedPods default/b: Pods selected by this PodDisruptionBudget (selector: app=web)',
  );
  await running.stop();
});

test('a pod that was not disrupted after all gets its condition reset after two minutes', async () => {
  const { api, running } = await fixture({ minAvailable: 1 }, [pod('a')]);
  api.edit(POD, 'a', ({ status }) => {
    status!.conditions!.push({
      type: 'DisruptionTarget',
      status: 'True',
      lastTransitionTime: formatTime(api.clock.nowMs()),
    });
  });
  await api.advance(119_000);
  const target = () =>
    api.get(POD, 'a').status?.conditions?.find(({ type }) => type === 'DisruptionTarget')?.status;
  expect(target()).toBe('True');
  await api.advance(2_000);
  expect(target()).toBe('False');
  await running.stop();
});
