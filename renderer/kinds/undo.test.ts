import { expect, test } from 'vitest';
import { canRecreate, undoOfApply, undoOfDelete } from './undo.ts';

const deployments = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  namespaced: true,
  kind: 'Deployment',
} as const;
const jobs = { group: 'batch', version: 'v1', plural: 'jobs', namespaced: true, kind: 'Job' } as const;
const at = '/apis/apps/v1/namespaces/default/deployments/web';
const metadata = { name: 'web', namespace: 'default', uid: 'u1', resourceVersion: '5' };

test('an object that apply created is deleted by its UID', () => {
  const undo = undoOfApply(deployments, { outcome: 'created', live: null, result: { metadata } });
  expect(undo?.request).toMatchObject({ method: 'DELETE', path: at, body: { preconditions: { uid: 'u1' } } });
});

test('a changed object is put back, unless another client has changed it since', () => {
  const live = { metadata: { ...metadata, resourceVersion: '4' }, spec: { replicas: 1 } };
  const undo = undoOfApply(deployments, { outcome: 'configured', live, result: { metadata } });
  expect(undo?.request).toEqual({
    method: 'PUT',
    path: at,
    query: { fieldManager: 'pilothouse' },
    body: { metadata, spec: { replicas: 1 } },
  });
});

test('nothing is undone where nothing was changed', () => {
  const object = { metadata };
  expect(undoOfApply(deployments, { outcome: 'unchanged', live: object, result: object })).toBeUndefined();
  expect(undoOfApply(deployments, { outcome: 'refused', live: object, result: null })).toBeUndefined();
});

test('a deleted object is recreated without what its server set', () => {
  const object = { metadata: { ...metadata, deletionTimestamp: 'now' }, spec: { replicas: 2 }, status: {} };
  expect(undoOfDelete(deployments, object)).toEqual({
    title: 'Deployment web',
    request: {
      method: 'POST',
      path: '/apis/apps/v1/namespaces/default/deployments',
      query: { fieldManager: 'pilothouse' },
      body: { metadata: { name: 'web', namespace: 'default' }, spec: { replicas: 2 } },
    },
  });
});

test('a recreated Job gets the selector of its new UID, unless a person chose it', () => {
  const spec = {
    selector: { matchLabels: { 'controller-uid': 'u1' } },
    template: { metadata: { labels: { app: 'x', 'controller-uid': 'u1' } } },
  };
  const specOf = (more: object): unknown =>
    (undoOfDelete(jobs, { metadata, spec: { ...spec, ...more } }).request.body as { spec: unknown }).spec;
  expect([specOf({}), specOf({ manualSelector: true })]).toEqual([
    { template: { metadata: { labels: { app: 'x' } } } },
    { ...spec, manualSelector: true },
  ]);
});

test('a recreated Job does not name the UID of the one before in its labels', () => {
  const labels = { app: 'x', 'controller-uid': 'u1', 'batch.kubernetes.io/controller-uid': 'u1' };
  const { request } = undoOfDelete(jobs, { metadata: { ...metadata, labels }, spec: {} });
  expect((request.body as { metadata: unknown }).metadata).toEqual({
    name: 'web',
    namespace: 'default',
    labels: { app: 'x' },
  });
});

test('undo is not offered for containers of other objects or for objects that a controller recreates', () => {
  const owned = { metadata: { ownerReferences: [{ kind: 'ReplicaSet' }] } };
  expect([
    canRecreate('ConfigMap'),
    canRecreate('Pod', { metadata }),
    canRecreate('Pod', owned),
    canRecreate('Namespace'),
  ]).toEqual([true, true, false, false]);
});
