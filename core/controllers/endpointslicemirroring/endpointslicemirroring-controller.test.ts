import { expect, test } from 'vitest';
import { ENDPOINT_SLICE, ENDPOINTS, SERVICE } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { endpointSliceMirroringController } from './endpointslicemirroring-controller.ts';

const service = (name: string, selector?: Record<string, string>) => ({
  metadata: { name },
  spec: { ports: [{ port: 80 }], ...(selector && { selector }) },
});
const endpoints = (name: string, metadata: object = {}) => ({
  metadata: { name, labels: { team: 'a' }, ...metadata },
  subsets: [
    {
      addresses: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }],
      notReadyAddresses: [{ ip: '10.0.0.2', nodeName: 'n' }],
      ports: [{ port: 9000, protocol: 'TCP' }],
    },
  ],
});
const view = (api: FakeApi) =>
  api
    .list(ENDPOINT_SLICE)
    .map(({ addressType, endpoints: held, ports }) => [
      addressType,
      (held ?? []).map(({ addresses, conditions }) => `${addresses[0]} ${conditions?.ready}`),
      ports?.[0]?.port,
    ])
    .sort();

test('endpoints written by people are mirrored by address family, updated and deleted', async () => {
  const api = new FakeApi();
  api.seed(SERVICE, service('own'));
  api.seed(ENDPOINTS, endpoints('own'));
  const running = await startOnFake(api, endpointSliceMirroringController);
  expect(view(api)).toEqual([
    ['IPv4', ['10.0.0.1 true', '10.0.0.2 false'], 9000],
    ['IPv6', ['fd00::1 true'], 9000],
  ]);
  expect(api.list(ENDPOINT_SLICE)[0]?.metadata).toMatchObject({
    labels: {
      team: 'a',
      'kubernetes.io/service-name': 'own',
      'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
    },
    ownerReferences: [{ kind: 'Endpoints', name: 'own', controller: true }],
  });
  api.edit(
    ENDPOINTS,
    'own',
    (one) => (one.subsets = [{ addresses: [{ ip: '10.0.0.2' }], ports: [{ port: 9000 }] }]),
  );
  await api.settle();
  expect(view(api)).toEqual([['IPv4', ['10.0.0.2 true'], 9000]]);
  api.remove(ENDPOINTS, 'own');
  await api.settle();
  expect(view(api)).toEqual([]);
  await running.stop();
});

test('endpoints of selectors, of locks, of no service, and those marked so are not mirrored', async () => {
  const api = new FakeApi();
  api.seed(SERVICE, service('selects', { app: 'a' }), service('lock'), service('marked'));
  api.seed(
    ENDPOINTS,
    endpoints('selects'),
    endpoints('lock', { annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } }),
    endpoints('marked', { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } }),
    endpoints('alone'),
  );
  const running = await startOnFake(api, endpointSliceMirroringController);
  expect(view(api)).toEqual([]);
  await running.stop();
});
