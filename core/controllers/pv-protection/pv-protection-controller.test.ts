import { expect, test } from 'vitest';
import { PERSISTENT_VOLUME } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { pvProtectionController } from './pv-protection-controller.ts';

test('a volume is held while it is bound, and no longer', async () => {
  const api = new FakeApi();
  api.seed(PERSISTENT_VOLUME, { metadata: { name: 'a' }, status: { phase: 'Bound' } });
  const running = await startOnFake(api, pvProtectionController);
  expect(api.get(PERSISTENT_VOLUME, 'a').metadata.finalizers).toEqual(['kubernetes.io/pv-protection']);
  await api.client().resource(PERSISTENT_VOLUME).delete('a');
  await api.settle();
  expect(api.find(PERSISTENT_VOLUME, 'a')).toBeDefined();
  api.edit(PERSISTENT_VOLUME, 'a', (volume) => (volume.status = { phase: 'Released' }));
  await api.settle();
  expect(api.find(PERSISTENT_VOLUME, 'a')).toBeUndefined();
  await running.stop();
});
