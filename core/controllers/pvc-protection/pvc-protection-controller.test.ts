import { expect, test } from 'vitest';
import { PERSISTENT_VOLUME_CLAIM, POD, type Pod } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { pvcProtectionController } from './pvc-protection-controller.ts';

const claim = (name: string) => ({
  metadata: { name, finalizers: ['kubernetes.io/pvc-protection'] },
  spec: {},
});
const pod = (name: string, nodeName: string | undefined, volume: object): Pod => ({
  metadata: { name },
  spec: { containers: [], ...(nodeName && { nodeName }), volumes: [{ name: 'v', ...volume }] },
});
const uses = (claimName: string) => ({ persistentVolumeClaim: { claimName } });

test('claims get the finalizer', async () => {
  const api = new FakeApi();
  api.seed(PERSISTENT_VOLUME_CLAIM, { metadata: { name: 'data' }, spec: {} });
  const running = await startOnFake(api, pvcProtectionController);
  expect(api.get(PERSISTENT_VOLUME_CLAIM, 'data').metadata.finalizers).toEqual([
    'kubernetes.io/pvc-protection',
  ]);
  await running.stop();
});

test('a claim goes when the last bound pod that names it is gone', async () => {
  const api = new FakeApi();
  api.seed(PERSISTENT_VOLUME_CLAIM, claim('data'), claim('free'));
  api.seed(POD, pod('p', 'n', uses('data')), pod('waiting', undefined, uses('free')));
  const running = await startOnFake(api, pvcProtectionController);
  const resource = api.client().resource(PERSISTENT_VOLUME_CLAIM, 'default');
  await resource.delete('data');
  await resource.delete('free');
  await api.settle();
  const names = () => api.list(PERSISTENT_VOLUME_CLAIM).map(({ metadata }) => metadata.name);
  expect(names()).toEqual(['data']);
  api.edit(POD, 'p', (one) => (one.status = { phase: 'Succeeded' }));
  await api.settle();
  expect(names()).toEqual(['data']);
  api.remove(POD, 'p');
  await api.settle();
  expect(names()).toEqual([]);
  await running.stop();
});

test('an ephemeral volume holds the claim only if it is its own', async () => {
  const api = new FakeApi();
  api.seed(PERSISTENT_VOLUME_CLAIM, claim('p-v'));
  api.seed(POD, pod('p', 'n', { ephemeral: {} }));
  const running = await startOnFake(api, pvcProtectionController);
  await api.client().resource(PERSISTENT_VOLUME_CLAIM, 'default').delete('p-v');
  await api.settle();
  expect(api.list(PERSISTENT_VOLUME_CLAIM)).toEqual([]);
  await running.stop();
});
