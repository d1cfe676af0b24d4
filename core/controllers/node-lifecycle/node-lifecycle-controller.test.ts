import { expect, test } from 'vitest';
import { formatMicroTime, formatTime } from '../../api/meta/index.ts';
import { LEASE, NODE, POD } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { nodeLifecycleController } from './node-lifecycle-controller.ts';
import { evictionRate, stateOfZone, ZoneQueue } from './zones.ts';

const node = (api: FakeApi, name: string, ready = 'True', zone = 'z1') => ({
  metadata: {
    name,
    creationTimestamp: formatTime(api.clock.nowMs()),
    labels: { 'topology.kubernetes.io/zone': zone },
  },
  status: {
    conditions: [{ type: 'Ready', status: ready, lastHeartbeatTime: formatTime(api.clock.nowMs()) }],
  },
});
const pod = (name: string, nodeName: string) => ({
  metadata: { name },
  spec: { nodeName, containers: [] },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
});
const renew = (api: FakeApi, name: string) => {
  const spec = { renewTime: formatMicroTime(api.clock.nowMs()) };
  if (api.find(LEASE, name, 'kube-node-lease'))
    api.edit(LEASE, name, (lease) => (lease.spec = spec), 'kube-node-lease');
  else api.seed(LEASE, { metadata: { name, namespace: 'kube-node-lease' }, spec });
};
const taints = (api: FakeApi, name: string) =>
  (api.get(NODE, name).spec?.taints ?? []).map(({ key, effect }) => `${key.split('/')[1]}:${effect}`).sort();
const ready = (api: FakeApi, name: string) =>
  api.get(NODE, name).status?.conditions?.find(({ type }) => type === 'Ready');

/** Time passes while the named nodes renew their leases. */
const pass = async (api: FakeApi, seconds: number, alive: readonly string[]) => {
  for (let i = 0; i < seconds; i += 5) {
    for (const name of alive) renew(api, name);
    await api.advance(5_000, 1_000);
  }
};

test('a node that goes silent is unknown after the grace period, tainted, and its pods are not ready', async () => {
  const api = new FakeApi();
  api.seed(NODE, node(api, 'a'), node(api, 'b'));
  api.seed(POD, pod('p', 'a'), pod('q', 'b'));
  const running = await startOnFake(api, nodeLifecycleController);
  await pass(api, 40, ['b']);
  expect(ready(api, 'a')?.status).toBe('True');
  await pass(api, 10, ['b']);
  expect(ready(api, 'a')).toMatchObject({
    status: 'Unknown',
    reason: 'NodeStatusUnknown',
    message: 'Kubelet stopped posting node status.',
  });
  expect(api.get(NODE, 'a').status?.conditions).toContainEqual(
    expect.objectContaining({
      type: 'MemoryPressure',
      status: 'Unknown',
      reason: 'NodeStatusNeverUpdated',
      message: 'Kubelet never posted node status.',
    }),
  );
  expect([taints(api, 'a'), taints(api, 'b')]).toEqual([
    ['unreachable:NoExecute', 'unreachable:NoSchedule'],
    [],
  ]);
  expect(api.get(POD, 'p').status?.conditions?.[0]?.status).toBe('False');
  expect(api.get(POD, 'q').status?.conditions?.[0]?.status).toBe('True');
  expect(running.events).toEqual([
    'Normal NodeNotReady a: Node a status is now: NodeNotReady',
    'Warning NodeNotReady default/p: Node is not ready',
  ]);
  api.edit(NODE, 'a', (one) => {
    one.status!.conditions![0] = {
      type: 'Ready',
      status: 'True',
      lastHeartbeatTime: formatTime(api.clock.nowMs()),
    };
  });
  await pass(api, 10, ['a', 'b']);
  expect(taints(api, 'a')).toEqual([]);
  await running.stop();
});

test('a node that says it is not ready is tainted as such, and conditions keep pods away', async () => {
  const api = new FakeApi();
  api.seed(NODE, node(api, 'a', 'False'), node(api, 'b'));
  api.edit(NODE, 'b', (one) => {
    one.spec = { unschedulable: true, taints: [{ key: 'mine', effect: 'NoSchedule' }] };
    one.status!.conditions!.push({ type: 'DiskPressure', status: 'True' });
  });
  const running = await startOnFake(api, nodeLifecycleController);
  await pass(api, 10, ['a', 'b']);
  expect(taints(api, 'a')).toEqual(['not-ready:NoExecute', 'not-ready:NoSchedule']);
  expect(
    api
      .get(NODE, 'b')
      .spec?.taints?.map(({ key }) => key)
      .sort(),
  ).toEqual(['mine', 'node.kubernetes.io/disk-pressure', 'node.kubernetes.io/unschedulable']);
  await running.stop();
});

test('a node that never spoke has a longer grace', async () => {
  const api = new FakeApi();
  api.seed(NODE, node(api, 'b'), {
    metadata: { name: 'a', creationTimestamp: formatTime(api.clock.nowMs()) },
  });
  const running = await startOnFake(api, nodeLifecycleController);
  await pass(api, 60, ['b']);
  expect(ready(api, 'a')).toBeUndefined();
  await pass(api, 5, ['b']);
  expect(ready(api, 'a')).toMatchObject({ status: 'Unknown', reason: 'NodeStatusNeverUpdated' });
  await running.stop();
});

test('when every zone is silent nothing is evicted until one is back', async () => {
  const api = new FakeApi();
  api.seed(NODE, node(api, 'a'), node(api, 'b', 'True', 'z2'));
  const running = await startOnFake(api, nodeLifecycleController);
  await pass(api, 60, []);
  expect([ready(api, 'a')?.status, ready(api, 'b')?.status]).toEqual(['Unknown', 'Unknown']);
  expect([taints(api, 'a'), taints(api, 'b')]).toEqual([
    ['unreachable:NoSchedule'],
    ['unreachable:NoSchedule'],
  ]);
  api.edit(NODE, 'a', (one) => {
    one.status!.conditions![0] = {
      type: 'Ready',
      status: 'True',
      lastHeartbeatTime: formatTime(api.clock.nowMs()),
    };
  });
  await pass(api, 15, ['a']);
  expect([taints(api, 'a'), taints(api, 'b')]).toEqual([
    [],
    ['unreachable:NoExecute', 'unreachable:NoSchedule'],
  ]);
  await running.stop();
});

test('the second node of a zone waits for its turn', async () => {
  const api = new FakeApi();
  api.seed(NODE, ...['a', 'b', 'c', 'd', 'e'].map((name) => node(api, name)));
  const running = await startOnFake(api, nodeLifecycleController);
  await pass(api, 50, ['c', 'd', 'e']);
  const tainted = () => ['a', 'b'].filter((name) => taints(api, name).includes('unreachable:NoExecute'));
  expect(tainted()).toEqual(['a']);
  await pass(api, 10, ['c', 'd', 'e']);
  expect(tainted()).toEqual(['a', 'b']);
  await running.stop();
});

test('the state of a zone and its rate are upstream’s', () => {
  const nodes = (readyCount: number, silentCount: number) =>
    [...Array<string>(readyCount).fill('True'), ...Array<string>(silentCount).fill('Unknown')].map(
      (status) => ({
        status: { conditions: [{ type: 'Ready', status }] },
      }),
    );
  expect([
    stateOfZone(nodes(0, 1), 0.55),
    stateOfZone(nodes(1, 2), 0.55),
    stateOfZone(nodes(2, 3), 0.55),
  ]).toEqual(['FullDisruption', 'Normal', 'PartialDisruption']);
  const policy = {
    evictionsPerSecond: 0.1,
    secondaryEvictionsPerSecond: 0.01,
    largeZoneNodesMin: 50,
    unhealthyShare: 0.55,
  };
  expect([
    evictionRate('FullDisruption', 5, policy),
    evictionRate('PartialDisruption', 50, policy),
    evictionRate('PartialDisruption', 51, policy),
  ]).toEqual([0.1, 0, 0.01]);
  const held = new ZoneQueue(0);
  held.add('a');
  expect(held.due(1_000_000)).toEqual([]);
});
