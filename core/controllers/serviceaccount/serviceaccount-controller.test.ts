import { expect, test } from 'vitest';
import { NAMESPACE, SERVICE_ACCOUNT } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { serviceAccountController } from './serviceaccount-controller.ts';

const namespace = (name: string, phase = 'Active') => ({ metadata: { name }, status: { phase } });
const keys = (api: FakeApi) =>
  api.list(SERVICE_ACCOUNT).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);

test('active namespaces get the default account, terminating ones do not', async () => {
  const api = new FakeApi();
  api.seed(NAMESPACE, namespace('a'), namespace('b', 'Terminating'));
  const running = await startOnFake(api, serviceAccountController);
  api.seed(NAMESPACE, namespace('c'));
  await api.settle();
  expect(keys(api)).toEqual(['a/default', 'c/default']);
  await running.stop();
});

test('an account that was deleted comes back', async () => {
  const api = new FakeApi();
  api.seed(NAMESPACE, namespace('a'));
  const running = await startOnFake(api, serviceAccountController);
  api.remove(SERVICE_ACCOUNT, 'default', 'a');
  await api.settle();
  expect(keys(api)).toEqual(['a/default']);
  await running.stop();
});
