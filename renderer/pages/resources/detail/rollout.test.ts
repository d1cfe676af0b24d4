import { expect, test } from 'vitest';
import type { KubeResource } from '../../../../core/contract/index.ts';
import { revisionsOf, undoChange, undoObstacle } from './rollout-history.ts';
import { rolloutState } from './rollout-state.ts';

const template = (image: string, labels = {}) => ({
  metadata: { labels: { app: 'web', ...labels } },
  spec: { containers: [{ name: 'web', image }] },
});
const deployment = (image: string, over = {}) => ({
  kind: 'Deployment',
  metadata: {
    name: 'web',
    uid: 'd',
    generation: 3,
    annotations: { 'deployment.kubernetes.io/revision': '2', team: 'now' },
  },
  spec: { replicas: 4, template: template(image) },
  status: { observedGeneration: 3, updatedReplicas: 4, replicas: 4, availableReplicas: 4 },
  ...over,
});
const replicaSet = (revision: number, image: string, owner = 'd') => ({
  metadata: {
    name: `web-${revision}`,
    annotations: { 'deployment.kubernetes.io/revision': `${revision}`, team: 'then' },
    ownerReferences: [{ uid: owner, controller: true }],
  },
  spec: { template: template(image, { 'pod-template-hash': `h${revision}` }) },
  status: { replicas: revision },
});
const target = (kind: string, plural: string) => ({
  resource: { group: 'apps', version: 'v1', plural, kind, namespaced: true } as KubeResource,
  namespace: 'shop',
  name: 'web',
});

test('revisions of a Deployment are its own ReplicaSets, newest first; the current one has its template', () => {
  const revisions = revisionsOf(deployment('web:2'), [
    replicaSet(1, 'web:1'),
    replicaSet(2, 'web:2'),
    replicaSet(9, 'web:9', 'other'),
  ]);
  expect(revisions.map(({ number, isCurrent, images }) => [number, isCurrent, images])).toEqual([
    [2, true, ['web:2']],
    [1, false, ['web:1']],
  ]);
});

test('going back replaces the template without its hash, and keeps the annotations that are the Deployment’s', () => {
  const object = deployment('web:2');
  const [, before] = revisionsOf(object, [replicaSet(1, 'web:1'), replicaSet(2, 'web:2')]);
  expect(undoChange(target('Deployment', 'deployments'), object, before!)).toMatchObject({
    method: 'PATCH',
    path: '/apis/apps/v1/namespaces/shop/deployments/web',
    contentType: 'application/json-patch+json',
    body: [
      { op: 'replace', path: '/spec/template', value: template('web:1') },
      {
        op: 'replace',
        path: '/metadata/annotations',
        value: { 'deployment.kubernetes.io/revision': '2', team: 'then' },
      },
    ],
  });
});

test('a StatefulSet goes back with what its ControllerRevision keeps, as it is', () => {
  const data = { spec: { template: { ...template('db:1'), $patch: 'replace' } } };
  const revision = (number: number) => ({
    metadata: { name: `db-${number}`, ownerReferences: [{ uid: 's', controller: true }] },
    revision: number,
    data,
  });
  const object = { kind: 'StatefulSet', metadata: { name: 'web', uid: 's' } };
  const revisions = revisionsOf(object, [revision(1), revision(2)]);
  expect(revisions.map(({ number, isCurrent }) => [number, isCurrent])).toEqual([
    [2, true],
    [1, false],
  ]);
  expect(undoChange(target('StatefulSet', 'statefulsets'), object, revisions[1]!)).toMatchObject({
    contentType: 'application/strategic-merge-patch+json',
    body: data,
  });
});

test('no one goes back to what is there, nor while the rollout is paused', () => {
  const object = deployment('web:2', { spec: { paused: true, template: template('web:2') } });
  const [current, before] = revisionsOf(object, [replicaSet(1, 'web:1'), replicaSet(2, 'web:2')]);
  expect([undoObstacle(object, current!), undoObstacle(object, before!)]).toEqual(['current', 'paused']);
});

test('the state of a rollout follows the rules of kubectl', () => {
  const phase = (status: object, over = {}) =>
    rolloutState(deployment('web:2', { ...over, status: { observedGeneration: 3, ...status } })).phase;
  const late = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }];
  expect([
    phase({ observedGeneration: 2 }),
    phase({ updatedReplicas: 1, replicas: 5, availableReplicas: 4 }),
    phase({ updatedReplicas: 4, replicas: 5, availableReplicas: 4 }),
    phase({ updatedReplicas: 4, replicas: 4, availableReplicas: 3 }),
    phase({ updatedReplicas: 4, replicas: 4, availableReplicas: 4 }),
    phase({ updatedReplicas: 1, replicas: 5, availableReplicas: 4, conditions: late }),
    phase({ updatedReplicas: 1, replicas: 5 }, { spec: { replicas: 4, paused: true } }),
  ]).toEqual(['unobserved', 'updating', 'retiring', 'starting', 'done', 'stuck', 'paused']);
});

test('pods below the partition of a StatefulSet are not waited for', () => {
  const { phase, wanted } = rolloutState({
    kind: 'StatefulSet',
    metadata: { generation: 1 },
    spec: { replicas: 3, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } },
    status: { observedGeneration: 1, replicas: 3, updatedReplicas: 1, availableReplicas: 3 },
  });
  expect([phase, wanted]).toEqual(['done', 1]);
});
