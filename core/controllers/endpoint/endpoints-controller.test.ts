import { expect, test } from 'vitest';
import { ENDPOINTS, POD, SERVICE } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { endpointsController } from './endpoints-controller.ts';

const pod = (n: number, ready = true, port = 8080) => ({
  metadata: { name: `p${n}`, uid: `u${n}`, labels: { app: 'web' } },
  spec: {
    nodeName: 'node1',
    containers: [{ name: 'c', ports: [{ name: 'http', containerPort: port }] }],
  },
  status: {
    phase: 'Running',
    podIP: `10.0.0.${n}`,
    conditions: [
      { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:10Z' },
    ],
  },
});
const service = (spec: object = {}) => ({
  metadata: { name: 'web', labels: { tier: 'front' } },
  spec: {
    clusterIP: '10.96.0.5',
    selector: { app: 'web' },
    ports: [{ name: 'main', port: 80, targetPort: 'http', protocol: 'TCP' }],
    ...spec,
  },
});
const subsets = (api: FakeApi) =>
  (api.find(ENDPOINTS, 'web')?.subsets ?? []).map(({ addresses, notReadyAddresses, ports }) => [
    (addresses ?? []).map(({ ip }) => ip),
    (notReadyAddresses ?? []).map(({ ip }) => ip),
    (ports ?? []).map(({ port }) => port),
  ]);

test('ready and unready pods are separate, ports form subsets, labels come from the Service', async () => {
  const api = new FakeApi();
  api.seed(SERVICE, service());
  api.seed(POD, pod(1), pod(2, false), pod(3, true, 9090));
  const running = await startOnFake(api, endpointsController);
  expect(subsets(api)).toEqual([
    [['10.0.0.1'], ['10.0.0.2'], [8080]],
    [['10.0.0.3'], [], [9090]],
  ]);
  expect(api.get(ENDPOINTS, 'web').metadata.labels).toEqual({
    tier: 'front',
    'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
  });
  api.forgetRequests();
  api.edit(POD, 'p1', (one) => (one.metadata.annotations = { note: 'x' }));
  api.edit(SERVICE, 'web', (one) => (one.metadata.annotations = { note: 'x' }));
  await api.settle();
  expect(api.writes()).toEqual([]);
  await running.stop();
});

test('a headless service without ports has addresses without ports', async () => {
  const api = new FakeApi();
  api.seed(SERVICE, service({ clusterIP: 'None', ports: [] }));
  api.seed(POD, pod(1));
  const running = await startOnFake(api, endpointsController);
  expect(subsets(api)).toEqual([[['10.0.0.1'], [], []]]);
  expect(api.get(ENDPOINTS, 'web').metadata.labels?.['service.kubernetes.io/headless']).toBe('');
  await running.stop();
});

test('endpoints go with their service; those of services without selector are left', async () => {
  const api = new FakeApi();
  api.seed(SERVICE, service(), { metadata: { name: 'own' }, spec: { clusterIP: '10.96.0.6' } });
  api.seed(ENDPOINTS, { metadata: { name: 'own' }, subsets: [{ addresses: [{ ip: '1.2.3.4' }] }] });
  const running = await startOnFake(api, endpointsController);
  api.remove(SERVICE, 'web');
  await api.settle();
  expect(api.list(ENDPOINTS).map(({ metadata }) => metadata.name)).toEqual(['own']);
  await running.stop();
});

test('over a thousand addresses the ready ones are kept, and the object says that it is cut', async () => {
  const api = new FakeApi();
  api.seed(SERVICE, service());
  const many = Array.from({ length: 1005 }, (_, i) => {
    const one = pod(i, i >= 10);
    return { ...one, status: { ...one.status, podIP: `10.0.${Math.floor(i / 250)}.${i % 250}` } };
  });
  api.seed(POD, ...many);
  const running = await startOnFake(api, endpointsController);
  const { metadata, subsets: [only] = [] } = api.get(ENDPOINTS, 'web');
  expect([only?.addresses?.length, only?.notReadyAddresses?.length]).toEqual([995, 5]);
  expect(metadata.annotations?.['endpoints.kubernetes.io/over-capacity']).toBe('truncated');
  await running.stop();
});
