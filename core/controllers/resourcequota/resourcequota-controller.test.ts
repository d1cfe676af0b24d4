import { expect, test } from 'vitest';
import { CONFIG_MAP, POD, RESOURCE_QUOTA, SERVICE, type Pod } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { resourceQuotaController } from './resourcequota-controller.ts';

const pod = (name: string, cpu: string, phase = 'Running'): Pod => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', resources: { requests: { cpu } } }] },
  status: { phase },
});
const used = (api: FakeApi) => api.get(RESOURCE_QUOTA, 'q').status?.used;
const fixture = async (hard: Record<string, string>, scopes?: string[]) => {
  const api = new FakeApi();
  api.seed(RESOURCE_QUOTA, { metadata: { name: 'q' }, spec: { hard, ...(scopes && { scopes }) } });
  api.seed(POD, pod('a', '100m'), pod('b', '1500m'), pod('done', '1', 'Succeeded'), {
    ...pod('elsewhere', '1'),
    metadata: { name: 'elsewhere', namespace: 'other' },
  });
  const running = await startOnFake(api, resourceQuotaController);
  await api.advance(2_000, 200);
  return { api, running };
};

test('a quota says what is limited and what is used', async () => {
  const { api, running } = await fixture({
    pods: '5',
    'requests.cpu': '4',
    'count/configmaps': '3',
    services: '1',
  });
  expect(api.get(RESOURCE_QUOTA, 'q').status).toEqual({
    hard: { pods: '5', 'requests.cpu': '4', 'count/configmaps': '3', services: '1' },
    used: { pods: '2', 'requests.cpu': '1600m', 'count/configmaps': '0', services: '0' },
  });
  await running.stop();
});

test('deleted or finished objects lower the usage; new objects are counted by admission', async () => {
  const { api, running } = await fixture({ pods: '5', 'count/configmaps': '3' });
  api.seed(CONFIG_MAP, { metadata: { name: 'x' } });
  await api.settle();
  expect(used(api)?.['count/configmaps']).toBe('0');
  api.remove(POD, 'a');
  await api.settle();
  expect(used(api)).toEqual({ pods: '1', 'count/configmaps': '1' });
  api.edit(POD, 'b', (one) => (one.status = { phase: 'Failed' }));
  await api.settle();
  expect(used(api)?.['pods']).toBe('0');
  await running.stop();
});

test('all is counted again after a while', async () => {
  const { api, running } = await fixture({ services: '3' });
  api.seed(SERVICE, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } });
  await api.advance(299_000, 50_000);
  expect(used(api)).toEqual({ services: '1' });
  await running.stop();
});

test('a scope counts only what it selects', async () => {
  const { api, running } = await fixture({ pods: '5' }, ['BestEffort']);
  expect(used(api)).toEqual({ pods: '0' });
  await running.stop();
});
