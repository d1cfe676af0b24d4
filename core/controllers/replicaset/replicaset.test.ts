import { expect, test } from 'vitest';
import { forbidden } from '../../api/meta/status-errors.ts';
import {
  POD,
  REPLICA_SET,
  REPLICATION_CONTROLLER,
  type Pod,
  type ReplicaSet,
  type ReplicationController,
} from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { actAsKubelet, finish, makeReady } from '../workloads/testing/pods.ts';
import { runOn } from '../workloads/testing/run-controller.ts';
import { REPLICASET_CONTROLLER, REPLICATIONCONTROLLER_CONTROLLER } from './index.ts';

const replicaSet = (replicas: number, spec: Partial<ReplicaSet['spec']> = {}): ReplicaSet => ({
  metadata: { name: 'web', uid: 'rs-uid' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    ...spec,
  },
});

const start = async (object: ReplicaSet, prepare?: (api: FakeApi) => void) => {
  const api = new FakeApi();
  api.seed(REPLICA_SET, object);
  prepare?.(api);
  const running = await runOn(api, REPLICASET_CONTROLLER);
  await api.settle();
  return { api, ...running };
};

test('the desired number of pods is created with the template, an owner and a generated name', async () => {
  const { api, events, stop } = await start(replicaSet(3));
  const pods = api.list(POD);
  expect(pods).toHaveLength(3);
  expect(pods[0]).toMatchObject({
    metadata: {
      name: expect.stringMatching(/^web-[a-z0-9]{5}$/) as string,
      labels: { app: 'web' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: 'web',
          uid: 'rs-uid',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  });
  expect([...events].sort()).toEqual(
    pods.map(({ metadata }) => `Normal SuccessfulCreate Created pod: ${metadata.name}`).sort(),
  );
  await stop();
});

test('the status counts pods, and terminating ones apart', async () => {
  const { api, stop } = await start(replicaSet(3));
  const [first, second] = api.list(POD).map(({ metadata }) => metadata.name);
  makeReady(api, first!);
  api.edit(POD, second!, (pod) => (pod.metadata.labels = { app: 'web', own: 'x' }));
  await api.settle();
  expect(api.get(REPLICA_SET, 'web').status).toEqual({
    replicas: 3,
    fullyLabeledReplicas: 3,
    readyReplicas: 1,
    availableReplicas: 1,
    terminatingReplicas: 0,
    observedGeneration: 1,
  });
  api.edit(POD, first!, (pod) => {
    pod.spec!.nodeName = 'n';
    pod.metadata.deletionTimestamp = '2026-01-01T00:00:30Z';
  });
  await api.settle();
  expect(api.get(REPLICA_SET, 'web').status).toMatchObject({ replicas: 3, terminatingReplicas: 1 });
  expect(api.list(POD)).toHaveLength(4);
  await stop();
});

test('a ready pod is available after minReadySeconds, without any event', async () => {
  const { api, stop } = await start(replicaSet(1, { minReadySeconds: 10 }));
  makeReady(api, api.list(POD)[0]!.metadata.name);
  await api.settle();
  expect(api.get(REPLICA_SET, 'web').status).toMatchObject({ readyReplicas: 1 });
  expect(api.get(REPLICA_SET, 'web').status?.availableReplicas).toBeUndefined();
  await api.advance(10_000);
  expect(api.get(REPLICA_SET, 'web').status).toMatchObject({ availableReplicas: 1 });
  await stop();
});

const owned = (name: string, change: Partial<Pod> = {}): Pod => ({
  metadata: {
    name,
    labels: { app: 'web' },
    ownerReferences: [
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'rs-uid', controller: true },
    ],
  },
  spec: { containers: [] },
  ...change,
});

test('scaling down takes the pods that are worth least', async () => {
  const { api, stop } = await start(replicaSet(2), (seeded) =>
    seeded.seed(
      POD,
      owned('running', {
        spec: { containers: [], nodeName: 'n' },
        status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
      }),
      owned('unready', { spec: { containers: [], nodeName: 'n' }, status: { phase: 'Running' } }),
      owned('unassigned', { status: { phase: 'Pending' } }),
      owned('pending', { spec: { containers: [], nodeName: 'n' }, status: { phase: 'Pending' } }),
    ),
  );
  await actAsKubelet(api, ({ metadata }) => metadata.name === 'running');
  expect(api.list(POD).map(({ metadata }) => metadata.name)).toEqual(['running', 'unready']);
  await stop();
});

test('a matching orphan is adopted instead of making a pod, and a pod that matches no more is released', async () => {
  const { api, stop } = await start(replicaSet(2), (seeded) =>
    seeded.seed(POD, { metadata: { name: 'orphan', labels: { app: 'web' } }, spec: { containers: [] } }),
  );
  expect(api.list(POD)).toHaveLength(2);
  expect(api.get(POD, 'orphan').metadata.ownerReferences).toMatchObject([{ uid: 'rs-uid' }]);
  api.edit(POD, 'orphan', (pod) => (pod.metadata.labels = { app: 'debug' }));
  await api.settle();
  expect(api.get(POD, 'orphan').metadata.ownerReferences ?? []).toEqual([]);
  expect(api.list(POD)).toHaveLength(3);
  await stop();
});

test('a failed pod is replaced and left for the collector', async () => {
  const { api, stop } = await start(replicaSet(1));
  const [{ metadata }] = api.list(POD) as [Pod];
  finish(api, metadata!.name!, 'Failed');
  await api.settle();
  expect(api.list(POD)).toHaveLength(2);
  expect(api.get(REPLICA_SET, 'web').status).toMatchObject({ replicas: 1 });
  await stop();
});

test('a full quota is asked for one pod at a time, reported as a condition and an event, and gone when there is room', async () => {
  const refusal = forbidden({ group: '', resource: 'pods' }, 'web-x', 'exceeded quota');
  const { api, events, stop } = await start(replicaSet(8), (seeded) =>
    seeded.failNext({ verb: 'create', plural: 'pods' }, refusal, 2),
  );
  expect(events[0]).toBe(`Warning FailedCreate Error creating: ${refusal.message}`);
  expect(api.requests.filter(({ verb }) => verb === 'create')).toHaveLength(2);
  expect(api.get(REPLICA_SET, 'web').status?.conditions).toMatchObject([
    { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: refusal.message },
  ]);
  await api.advance(1_000);
  expect(api.list(POD)).toHaveLength(8);
  expect(api.get(REPLICA_SET, 'web').status?.conditions).toBeUndefined();
  await stop();
});

test('pods are asked for in batches of 1, 2, 4, ... and at most 500 before the first were seen', async () => {
  const { api, stop } = await start(replicaSet(600));
  expect(api.list(POD)).toHaveLength(600);
  const batches: number[] = [];
  let held = 0;
  const hook = api.intercept(async ({ verb, type }) => {
    if (verb !== 'create' || type.plural !== 'pods') return;
    held += 1;
    await Promise.resolve();
    if (held > 0) batches.push(held);
    held = 0;
  });
  api.edit(REPLICA_SET, 'web', (object) => (object.spec!.replicas = 607));
  await api.settle();
  hook.dispose();
  expect(batches).toEqual([1, 2, 4]);
  await stop();
});

test('a conflict in the status is resolved on the present object', async () => {
  const { api, stop } = await start(replicaSet(1));
  const hook = api.intercept(({ verb, subresource }) => {
    if (verb !== 'update' || subresource !== 'status') return;
    hook.dispose();
    api.edit(REPLICA_SET, 'web', (object) => (object.metadata.annotations = { a: 'b' }));
  });
  makeReady(api, api.list(POD)[0]!.metadata.name);
  await api.settle();
  expect(api.get(REPLICA_SET, 'web')).toMatchObject({
    metadata: { annotations: { a: 'b' } },
    status: { readyReplicas: 1 },
  });
  await stop();
});

test('a replica set that is being deleted makes no pods', async () => {
  const object = replicaSet(2);
  object.metadata = { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['orphan'] };
  const { api, stop } = await start(object);
  expect(api.list(POD)).toEqual([]);
  await stop();
});

test('a ReplicationController is kept by the same code', async () => {
  const api = new FakeApi();
  const controller: ReplicationController = {
    metadata: { name: 'old' },
    spec: {
      replicas: 2,
      selector: { app: 'old' },
      template: { metadata: { labels: { app: 'old' } }, spec: { containers: [] } },
    },
  };
  api.seed(REPLICATION_CONTROLLER, controller);
  const { stop } = await runOn(api, REPLICATIONCONTROLLER_CONTROLLER);
  await actAsKubelet(api);
  expect(api.list(POD).map(({ metadata }) => metadata.ownerReferences?.[0]?.kind)).toEqual([
    'ReplicationController',
    'ReplicationController',
  ]);
  expect(api.get(REPLICATION_CONTROLLER, 'old').status).toEqual({
    replicas: 2,
    fullyLabeledReplicas: 2,
    readyReplicas: 2,
    availableReplicas: 2,
    observedGeneration: 1,
  });
  await stop();
});
