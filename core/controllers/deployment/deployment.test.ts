import { expect, test } from 'vitest';
import { alreadyExists, forbidden } from '../../api/meta/status-errors.ts';
import {
  DEPLOYMENT,
  POD,
  REPLICA_SET,
  templateHash,
  type Deployment,
  type Pod,
  type Stored,
} from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { REPLICASET_CONTROLLER } from '../replicaset/index.ts';
import { actAsKubelet } from '../workloads/testing/pods.ts';
import { normalizedTemplate } from '../workloads/pod-template.ts';
import { runOn } from '../workloads/testing/run-controller.ts';
import { DEPLOYMENT_CONTROLLER } from './index.ts';

const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image }] },
});

const deployment = (spec: Partial<Deployment['spec']> = {}): Deployment => ({
  metadata: { name: 'web', uid: 'd-uid' },
  spec: { replicas: 4, selector: { matchLabels: { app: 'web' } }, template: template('v1'), ...spec },
});

const start = async (spec: Partial<Deployment['spec']> = {}, prepare?: (api: FakeApi) => void) => {
  const api = new FakeApi();
  api.seed(DEPLOYMENT, deployment(spec));
  prepare?.(api);
  const running = await runOn(api, DEPLOYMENT_CONTROLLER, REPLICASET_CONTROLLER);
  return { api, ...running };
};

const edit = (api: FakeApi, change: (spec: NonNullable<Deployment['spec']>) => void) =>
  api.edit(DEPLOYMENT, 'web', (object) => {
    change(object.spec!);
    object.metadata.generation = (object.metadata.generation ?? 0) + 1;
  });

const setImage = (api: FakeApi, image: string) =>
  edit(api, (spec) => (spec.template.spec!.containers[0]!.image = image));

const imageOf = (pod: Stored<Pod>) => pod.spec!.containers[0]!.image;

/** `v1:4 v2:0`: sizes by image. */
const sizes = (api: FakeApi): Record<string, number> =>
  Object.fromEntries(
    api
      .list(REPLICA_SET)
      .map(({ spec }) => [spec!.template!.spec!.containers[0]!.image!, spec!.replicas!])
      .sort(),
  ) as Record<string, number>;

const conditionOf = (api: FakeApi, type: string) => {
  const found = api.get(DEPLOYMENT, 'web').status?.conditions?.find((condition) => condition.type === type);
  return found && { status: found.status, reason: found.reason, message: found.message };
};

test('a new deployment becomes one replica set of the first revision, complete and available', async () => {
  const { api, events, stop } = await start();
  await actAsKubelet(api);
  const [replicaSet] = api.list(REPLICA_SET);
  const hash = replicaSet!.metadata.labels!['pod-template-hash']!;
  expect(replicaSet).toMatchObject({
    metadata: {
      name: `web-${hash}`,
      labels: { app: 'web' },
      annotations: {
        'deployment.kubernetes.io/revision': '1',
        'deployment.kubernetes.io/desired-replicas': '4',
        'deployment.kubernetes.io/max-replicas': '5',
      },
      ownerReferences: [{ kind: 'Deployment', uid: 'd-uid', controller: true }],
    },
    spec: { selector: { matchLabels: { app: 'web', 'pod-template-hash': hash } } },
  });
  const { status, metadata } = api.get(DEPLOYMENT, 'web');
  expect(metadata.annotations).toEqual({ 'deployment.kubernetes.io/revision': '1' });
  expect({ ...status, conditions: undefined }).toEqual({
    observedGeneration: 1,
    replicas: 4,
    updatedReplicas: 4,
    readyReplicas: 4,
    availableReplicas: 4,
    terminatingReplicas: 0,
  });
  expect(conditionOf(api, 'Available')).toEqual({
    status: 'True',
    reason: 'MinimumReplicasAvailable',
    message: 'Deployment has minimum availability.',
  });
  expect(conditionOf(api, 'Progressing')).toEqual({
    status: 'True',
    reason: 'NewReplicaSetAvailable',
    message: `ReplicaSet "web-${hash}" has successfully progressed.`,
  });
  expect(events.filter((event) => event.includes('ScalingReplicaSet'))).toEqual([
    `Normal ScalingReplicaSet Scaled up replica set web-${hash} from 0 to 4`,
  ]);
  await stop();
});

test.each<[string, { maxSurge: number | string; maxUnavailable: number | string }, number, number]>([
  ['1 above and none missing', { maxSurge: 1, maxUnavailable: 0 }, 5, 4],
  ['none above and 1 missing', { maxSurge: 0, maxUnavailable: 1 }, 4, 3],
  ['25 % each', { maxSurge: '25%', maxUnavailable: '25%' }, 5, 3],
  ['both rounded to zero, so that 1 may be missing', { maxSurge: 0, maxUnavailable: '1%' }, 4, 3],
])('a rolling update keeps within its bounds: %s', async (_, rollingUpdate, podsMax, availableMin) => {
  const { api, stop } = await start({ strategy: { type: 'RollingUpdate', rollingUpdate } });
  await actAsKubelet(api);
  const seen = { most: 0, leastAvailable: Infinity };
  const hook = api.intercept(() => {
    const active = api.list(POD).filter(({ metadata }) => !metadata.deletionTimestamp);
    seen.most = Math.max(seen.most, active.length);
    const available = active.filter(({ status }) => status?.conditions?.[0]?.status === 'True').length;
    seen.leastAvailable = Math.min(seen.leastAvailable, available);
  });
  setImage(api, 'v2');
  await actAsKubelet(api);
  hook.dispose();
  expect(sizes(api)).toEqual({ v1: 0, v2: 4 });
  expect(seen).toEqual({ most: podsMax, leastAvailable: availableMin });
  await stop();
});

test('a template that never becomes ready stops the rollout, and its deadline is reported', async () => {
  const { api, stop } = await start({ progressDeadlineSeconds: 60 });
  const isGood = (pod: Stored<Pod>): boolean => imageOf(pod) !== 'bad';
  await actAsKubelet(api, isGood);
  setImage(api, 'bad');
  await actAsKubelet(api, isGood);
  expect(sizes(api)).toEqual({ v1: 3, bad: 2 });
  expect(conditionOf(api, 'Progressing')).toMatchObject({ status: 'True', reason: 'ReplicaSetUpdated' });
  await api.advance(62_000);
  const name = api.list(REPLICA_SET).find(({ spec }) => spec?.replicas === 2)!.metadata.name;
  expect(conditionOf(api, 'Progressing')).toEqual({
    status: 'False',
    reason: 'ProgressDeadlineExceeded',
    message: `ReplicaSet "${name}" has timed out progressing.`,
  });
  setImage(api, 'v1');
  await actAsKubelet(api, isGood);
  expect(sizes(api)).toEqual({ v1: 4, bad: 0 });
  expect(conditionOf(api, 'Progressing')).toMatchObject({ status: 'True', reason: 'NewReplicaSetAvailable' });
  await stop();
});

test('going back to an old template reuses its replica set under a new revision and keeps its history', async () => {
  const { api, stop } = await start();
  await actAsKubelet(api);
  for (const image of ['v2', 'v1']) {
    setImage(api, image);
    await actAsKubelet(api);
  }
  expect(sizes(api)).toEqual({ v1: 4, v2: 0 });
  expect(api.list(REPLICA_SET).find(({ spec }) => spec?.replicas === 4)!.metadata.annotations).toMatchObject({
    'deployment.kubernetes.io/revision': '3',
    'deployment.kubernetes.io/revision-history': '1',
  });
  expect(api.get(DEPLOYMENT, 'web').metadata.annotations).toMatchObject({
    'deployment.kubernetes.io/revision': '3',
  });
  await stop();
});

test('a rollback that is ordered by annotation copies template and annotations of that revision', async () => {
  const { api, events, stop } = await start();
  await actAsKubelet(api);
  setImage(api, 'v2');
  await actAsKubelet(api);
  api.edit(DEPLOYMENT, 'web', (object) => {
    object.metadata.annotations!['deprecated.deployment.rollback.to'] = '0';
  });
  await actAsKubelet(api);
  expect(sizes(api)).toEqual({ v1: 4, v2: 0 });
  expect(events).toContain('Normal DeploymentRollback Rolled back deployment "web" to revision 1');
  expect(api.get(DEPLOYMENT, 'web').metadata.annotations).toEqual({
    'deployment.kubernetes.io/revision': '3',
  });
  await stop();
});

test('Recreate starts no new pod before the last old one is gone', async () => {
  const { api, stop } = await start({ strategy: { type: 'Recreate' } });
  await actAsKubelet(api);
  for (const { metadata } of api.list(POD)) api.edit(POD, metadata.name, (pod) => (pod.spec!.nodeName = 'n'));
  setImage(api, 'v2');
  await api.settle();
  expect(sizes(api)).toEqual({ v1: 0 });
  const [last, ...others] = api.list(POD).map(({ metadata }) => metadata.name);
  for (const name of others) api.remove(POD, name);
  await api.settle();
  expect(sizes(api)).toEqual({ v1: 0 });
  api.remove(POD, last!);
  await api.settle();
  expect(sizes(api)).toEqual({ v1: 0, v2: 4 });
  await stop();
});

test('a paused deployment scales but does not roll, and resumes', async () => {
  const { api, stop } = await start();
  await actAsKubelet(api);
  edit(api, (spec) => {
    spec.paused = true;
    spec.template.spec!.containers[0]!.image = 'v2';
    spec.replicas = 6;
  });
  await actAsKubelet(api);
  expect(sizes(api)).toEqual({ v1: 6 });
  expect(conditionOf(api, 'Progressing')).toEqual({
    status: 'Unknown',
    reason: 'DeploymentPaused',
    message: 'Deployment is paused',
  });
  edit(api, (spec) => delete spec.paused);
  await actAsKubelet(api);
  expect(sizes(api)).toEqual({ v1: 0, v2: 6 });
  await stop();
});

test('scaling in the middle of a rollout is spread by share', async () => {
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } };
  const { api, stop } = await start({ replicas: 10, strategy });
  const isGood = (pod: Stored<Pod>): boolean => imageOf(pod) !== 'bad';
  await actAsKubelet(api, isGood);
  setImage(api, 'bad');
  await actAsKubelet(api, isGood);
  expect(sizes(api)).toEqual({ v1: 8, bad: 5 });
  edit(api, (spec) => (spec.replicas = 15));
  await actAsKubelet(api, isGood);
  expect(sizes(api)).toEqual({ v1: 11, bad: 7 });
  await stop();
});

test('old revisions beyond the limit are deleted, oldest first', async () => {
  const { api, stop } = await start({ revisionHistoryLimit: 1 });
  await actAsKubelet(api);
  for (const image of ['v2', 'v3', 'v4']) {
    setImage(api, image);
    await actAsKubelet(api);
  }
  expect(sizes(api)).toEqual({ v3: 0, v4: 4 });
  await stop();
});

test('a name that is taken by another is counted as a collision and avoided', async () => {
  const { api, stop } = await start({}, (seeded) => {
    // The server fills in defaults, and the hash is of the filled template.
    const filled = normalizedTemplate(seeded.get(DEPLOYMENT, 'web').spec!.template);
    seeded.seed(REPLICA_SET, {
      metadata: { name: `web-${templateHash(filled)}`, labels: { app: 'other' } },
      spec: { replicas: 0, selector: { matchLabels: { app: 'other' } }, template: template('other') },
    });
  });
  await api.settle();
  await api.advance(1000);
  await actAsKubelet(api);
  expect(api.get(DEPLOYMENT, 'web').status).toMatchObject({ collisionCount: 1, availableReplicas: 4 });
  await stop();
});

test('a ReplicaSet that cannot be created is reported and created later', async () => {
  const refusal = forbidden({ group: 'apps', resource: 'replicasets' }, 'x', 'exceeded quota');
  const { api, events, stop } = await start({}, (seeded) =>
    seeded.failNext({ verb: 'create', plural: 'replicasets' }, refusal, 2),
  );
  await api.settle();
  expect(conditionOf(api, 'Progressing')).toMatchObject({ status: 'False', reason: 'ReplicaSetCreateError' });
  expect(events[0]).toMatch(/^Warning ReplicaSetCreateError Failed to create new replica set "web-/);
  await api.advance(1000);
  await actAsKubelet(api);
  expect(sizes(api)).toEqual({ v1: 4 });
  await stop();
});

test('AlreadyExists for an object that we created is no collision', async () => {
  const { api, stop } = await start({}, (seeded) => {
    const hook = seeded.intercept((request) => {
      if (request.verb !== 'create' || request.type.plural !== 'replicasets') return;
      hook.dispose();
      const body = request.body as { metadata: { name: string } };
      seeded.seed(REPLICA_SET, body as never);
      throw alreadyExists({ group: 'apps', resource: 'replicasets' }, body.metadata.name);
    });
  });
  await actAsKubelet(api);
  expect(api.list(REPLICA_SET)).toHaveLength(1);
  expect(api.get(DEPLOYMENT, 'web').status?.collisionCount).toBeUndefined();
  await stop();
});

test('a replica set without a controller that matches is adopted', async () => {
  const { api, stop } = await start({}, (seeded) => {
    seeded.seed(REPLICA_SET, {
      metadata: { name: 'orphan', labels: { app: 'web' } },
      spec: { replicas: 4, selector: { matchLabels: { app: 'web' } }, template: template('v1') },
    });
  });
  await actAsKubelet(api);
  expect(api.list(REPLICA_SET).map(({ metadata }) => metadata.name)).toEqual(['orphan']);
  expect(api.get(DEPLOYMENT, 'web').status).toMatchObject({ availableReplicas: 4 });
  await stop();
});
