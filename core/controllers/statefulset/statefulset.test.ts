import { expect, test } from 'vitest';
import {
  CONTROLLER_REVISION,
  PERSISTENT_VOLUME_CLAIM,
  POD,
  STATEFUL_SET,
  type StatefulSet,
} from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { actAsKubelet, finish, makeReady } from '../workloads/testing/pods.ts';
import { runOn } from '../workloads/testing/run-controller.ts';
import { STATEFULSET_CONTROLLER } from './index.ts';

type Spec = Partial<NonNullable<StatefulSet['spec']>>;

const statefulSet = (spec: Spec = {}): StatefulSet => ({
  metadata: { name: 'db', uid: 'set-uid' },
  spec: {
    replicas: 3,
    serviceName: 'db',
    selector: { matchLabels: { app: 'db' } },
    template: {
      metadata: { labels: { app: 'db' } },
      spec: { containers: [{ name: 'c', image: 'v1' }] },
    },
    ...spec,
  },
});

const start = async (spec: Spec = {}, prepare?: (api: FakeApi) => void) => {
  const api = new FakeApi();
  api.seed(STATEFUL_SET, statefulSet(spec));
  prepare?.(api);
  const running = await runOn(api, STATEFULSET_CONTROLLER);
  await api.settle();
  return { api, ...running };
};

const names = (api: FakeApi): string[] => api.list(POD).map(({ metadata }) => metadata.name);
const images = (api: FakeApi): Record<string, string> =>
  Object.fromEntries(api.list(POD).map(({ metadata, spec }) => [metadata.name, spec!.containers[0]!.image!]));
const edit = (api: FakeApi, change: (spec: NonNullable<StatefulSet['spec']>) => void): void =>
  void api.edit(STATEFUL_SET, 'db', (set) => {
    change(set.spec!);
    set.metadata.generation = (set.metadata.generation ?? 1) + 1;
  });
const setImage = (api: FakeApi, image: string): void =>
  edit(api, (spec) => (spec.template.spec!.containers[0]!.image = image));
/** Deletions stay until somebody ends them, as with a kubelet. */
const place = (api: FakeApi): void => {
  for (const { metadata } of api.list(POD))
    api.edit(POD, metadata.name, (pod) => (pod.spec!.nodeName = 'node'));
};
const leaving = (api: FakeApi): string[] =>
  api
    .list(POD)
    .filter(({ metadata }) => metadata.deletionTimestamp)
    .map(({ metadata }) => metadata.name);

test('pods come one after the other, each when the one before is ready', async () => {
  const { api, events, stop } = await start();
  expect(names(api)).toEqual(['db-0']);
  makeReady(api, 'db-0');
  await api.settle();
  expect(names(api)).toEqual(['db-0', 'db-1']);
  await actAsKubelet(api);
  expect(names(api)).toEqual(['db-0', 'db-1', 'db-2']);
  expect(api.get(POD, 'db-1')).toMatchObject({
    metadata: {
      labels: {
        app: 'db',
        'statefulset.kubernetes.io/pod-name': 'db-1',
        'apps.kubernetes.io/pod-index': '1',
        'controller-revision-hash': expect.stringMatching(/^db-/) as string,
      },
    },
    spec: { hostname: 'db-1', subdomain: 'db' },
  });
  const [revision] = api.list(CONTROLLER_REVISION);
  const { name } = revision!.metadata;
  expect(api.get(STATEFUL_SET, 'db').status).toEqual({
    observedGeneration: 1,
    replicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
    currentReplicas: 3,
    updatedReplicas: 3,
    currentRevision: name,
    updateRevision: name,
    collisionCount: 0,
  });
  expect(events[0]).toBe('Normal SuccessfulCreate Create Pod db-0 in StatefulSet db successful');
  await stop();
});

test('a parallel set makes all at the same time, from the first ordinal on', async () => {
  const { api, stop } = await start({ podManagementPolicy: 'Parallel', ordinals: { start: 5 } });
  expect(names(api)).toEqual(['db-5', 'db-6', 'db-7']);
  await stop();
});

test('scaling down takes the last, and waits until it is gone', async () => {
  const { api, stop } = await start();
  await actAsKubelet(api);
  place(api);
  edit(api, (spec) => (spec.replicas = 1));
  await api.settle();
  expect(leaving(api)).toEqual(['db-2']);
  api.remove(POD, 'db-2');
  await api.settle();
  expect(leaving(api)).toEqual(['db-1']);
  await actAsKubelet(api);
  expect(names(api)).toEqual(['db-0']);
  await stop();
});

test('an update goes from the last to the first, one at a time', async () => {
  const { api, stop } = await start();
  await actAsKubelet(api);
  place(api);
  setImage(api, 'v2');
  await api.settle();
  expect(leaving(api)).toEqual(['db-2']);
  api.remove(POD, 'db-2');
  await api.settle();
  expect(images(api)).toEqual({ 'db-0': 'v1', 'db-1': 'v1', 'db-2': 'v2' });
  expect(leaving(api)).toEqual([]);
  makeReady(api, 'db-2');
  await api.settle();
  expect(leaving(api)).toEqual(['db-1']);
  await actAsKubelet(api);
  expect(images(api)).toEqual({ 'db-0': 'v2', 'db-1': 'v2', 'db-2': 'v2' });
  const { currentRevision, updateRevision } = api.get(STATEFUL_SET, 'db').status!;
  expect(currentRevision).toBe(updateRevision);
  await stop();
});

test('pods below the partition keep their revision, also when they are recreated', async () => {
  const { api, stop } = await start({
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } },
  });
  await actAsKubelet(api);
  setImage(api, 'v2');
  await actAsKubelet(api);
  expect(images(api)).toEqual({ 'db-0': 'v1', 'db-1': 'v1', 'db-2': 'v2' });
  api.remove(POD, 'db-0');
  await actAsKubelet(api);
  expect(images(api)).toEqual({ 'db-0': 'v1', 'db-1': 'v1', 'db-2': 'v2' });
  expect(api.get(STATEFUL_SET, 'db').status).toMatchObject({ currentReplicas: 2, updatedReplicas: 1 });
  await stop();
});

test('as many are updated at the same time as may be unavailable', async () => {
  const { api, stop } = await start({
    replicas: 4,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } },
  });
  await actAsKubelet(api);
  place(api);
  setImage(api, 'v2');
  await api.settle();
  expect(leaving(api)).toEqual(['db-2', 'db-3']);
  await actAsKubelet(api);
  expect(Object.values(images(api))).toEqual(['v2', 'v2', 'v2', 'v2']);
  await stop();
});

test('OnDelete updates only pods that somebody deletes', async () => {
  const { api, stop } = await start({ updateStrategy: { type: 'OnDelete' } });
  await actAsKubelet(api);
  setImage(api, 'v2');
  await actAsKubelet(api);
  expect(Object.values(images(api))).toEqual(['v1', 'v1', 'v1']);
  api.remove(POD, 'db-1');
  await actAsKubelet(api);
  expect(images(api)).toEqual({ 'db-0': 'v1', 'db-1': 'v2', 'db-2': 'v1' });
  await stop();
});

test('a failed pod is recreated under its name', async () => {
  const { api, stop } = await start({ replicas: 1 });
  const { uid } = api.get(POD, 'db-0').metadata;
  finish(api, 'db-0', 'Failed');
  await actAsKubelet(api);
  expect(api.get(POD, 'db-0').metadata.uid).not.toBe(uid);
  await stop();
});

const claimTemplates: Spec = {
  volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'] } }],
};

test('each pod has claims of its own that outlive it', async () => {
  const { api, events, stop } = await start({ ...claimTemplates, replicas: 2 });
  await actAsKubelet(api);
  expect(api.list(PERSISTENT_VOLUME_CLAIM).map(({ metadata }) => metadata.name)).toEqual([
    'data-db-0',
    'data-db-1',
  ]);
  expect(api.get(POD, 'db-1').spec?.volumes).toEqual([
    { name: 'data', persistentVolumeClaim: { claimName: 'data-db-1' } },
  ]);
  expect(api.get(PERSISTENT_VOLUME_CLAIM, 'data-db-1').metadata.ownerReferences).toBeUndefined();
  expect(events[0]).toBe('Normal SuccessfulCreate Create Claim data-db-0 Pod db-0 in StatefulSet db success');
  edit(api, (spec) => (spec.replicas = 0));
  await actAsKubelet(api);
  expect(api.list(PERSISTENT_VOLUME_CLAIM)).toHaveLength(2);
  await stop();
});

test('claims are owned by the set, and by a pod that is scaled away, as the policy says', async () => {
  const { api, stop } = await start({
    ...claimTemplates,
    replicas: 2,
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
  });
  await actAsKubelet(api);
  const owners = (name: string) =>
    (api.get(PERSISTENT_VOLUME_CLAIM, name).metadata.ownerReferences ?? []).map(
      ({ kind, name: owner }) => `${kind} ${owner}`,
    );
  expect(owners('data-db-1')).toEqual(['StatefulSet db']);
  place(api);
  edit(api, (spec) => (spec.replicas = 1));
  await api.settle();
  expect(owners('data-db-0')).toEqual(['StatefulSet db']);
  expect(owners('data-db-1')).toEqual(['Pod db-1']);
  api.remove(POD, 'db-1');
  edit(api, (spec) => (spec.replicas = 2));
  await api.settle();
  expect(names(api)).toEqual(['db-0']);
  api.remove(PERSISTENT_VOLUME_CLAIM, 'data-db-1');
  edit(api, () => undefined);
  await api.settle();
  expect(names(api)).toEqual(['db-0', 'db-1']);
  await stop();
});

test('revisions beyond the limit go, and a template that comes back keeps its revision', async () => {
  const { api, stop } = await start({ replicas: 1, revisionHistoryLimit: 1 });
  for (const image of ['v2', 'v3', 'v4', 'v3']) {
    setImage(api, image);
    await actAsKubelet(api);
  }
  expect(
    api
      .list(CONTROLLER_REVISION)
      .map(({ revision, data }) => [
        revision,
        (data as { spec: StatefulSet['spec'] }).spec!.template.spec!.containers[0]!.image,
      ])
      .sort(),
  ).toEqual([
    [4, 'v4'],
    [5, 'v3'],
  ]);
  await stop();
});

test('a matching orphan of the right name is adopted, and a lost label is put back', async () => {
  const { api, stop } = await start({ replicas: 1 }, (seeded) =>
    seeded.seed(
      POD,
      { metadata: { name: 'db-0', labels: { app: 'db' } }, spec: { containers: [] } },
      { metadata: { name: 'other-0', labels: { app: 'db' } }, spec: { containers: [] } },
    ),
  );
  makeReady(api, 'db-0');
  await api.settle();
  expect(api.get(POD, 'db-0').metadata).toMatchObject({
    ownerReferences: [{ uid: 'set-uid' }],
    labels: { 'statefulset.kubernetes.io/pod-name': 'db-0' },
  });
  expect(api.get(POD, 'other-0').metadata.ownerReferences).toBeUndefined();
  await stop();
});

test('the next pod waits until the one before has been ready for minReadySeconds', async () => {
  const { api, stop } = await start({ replicas: 2, minReadySeconds: 5 });
  makeReady(api, 'db-0');
  await api.settle();
  expect(names(api)).toEqual(['db-0']);
  await api.advance(5000);
  expect(names(api)).toEqual(['db-0', 'db-1']);
  await stop();
});
