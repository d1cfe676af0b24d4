import { expect, test } from 'vitest';
import { ENDPOINT_SLICE, NODE, POD, SERVICE } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { endpointSliceController } from './endpointslice-controller.ts';

const pod = (n: number, more: { ready?: boolean; node?: string; port?: number } = {}) => ({
  metadata: { name: `p${n}`, labels: { app: 'web' } },
  spec: {
    nodeName: more.node ?? 'node1',
    containers: [{ name: 'c', ports: [{ name: 'http', containerPort: more.port ?? 8080 }] }],
  },
  status: {
    phase: 'Running',
    podIP: `10.0.0.${n}`,
    podIPs: [{ ip: `10.0.0.${n}` }],
    conditions: [
      {
        type: 'Ready',
        status: more.ready === false ? 'False' : 'True',
        lastTransitionTime: '2026-01-01T00:00:10Z',
      },
    ],
  },
});
const service = (spec: object = {}) => ({
  metadata: { name: 'web', labels: { tier: 'front' }, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: {
    clusterIP: '10.96.0.5',
    ipFamilies: ['IPv4'],
    selector: { app: 'web' },
    ports: [{ name: 'main', port: 80, targetPort: 'http', protocol: 'TCP' }],
    ...spec,
  },
});
const fixture = async (spec: object = {}) => {
  const api = new FakeApi();
  api.seed(NODE, { metadata: { name: 'node1', labels: { 'topology.kubernetes.io/zone': 'z1' } } });
  api.seed(SERVICE, service(spec));
  return api;
};
const view = (api: FakeApi) =>
  api.list(ENDPOINT_SLICE).map(({ ports, endpoints }) => ({
    ports: (ports ?? []).map(({ port }) => port),
    endpoints: (endpoints ?? []).map(({ addresses, conditions }) => [
      addresses[0],
      conditions?.ready,
      conditions?.serving,
      conditions?.terminating,
    ]),
  }));

test('a slice says all that upstream says of a pod', async () => {
  const api = await fixture({ trafficDistribution: 'PreferClose' });
  const [seeded] = api.seed(POD, pod(1));
  const running = await startOnFake(api, endpointSliceController);
  const [slice] = api.list(ENDPOINT_SLICE);
  expect(slice).toMatchObject({
    addressType: 'IPv4',
    ports: [{ name: 'main', port: 8080, protocol: 'TCP' }],
    endpoints: [
      {
        addresses: ['10.0.0.1'],
        conditions: { ready: true, serving: true, terminating: false },
        nodeName: 'node1',
        zone: 'z1',
        hints: { forZones: [{ name: 'z1' }] },
        targetRef: { kind: 'Pod', namespace: 'default', name: 'p1', uid: seeded!.metadata.uid },
      },
    ],
  });
  expect(slice?.metadata).toMatchObject({
    name: expect.stringMatching(/^web-[a-z0-9]{5}$/),
    labels: {
      tier: 'front',
      'kubernetes.io/service-name': 'web',
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    },
    annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: 'web', controller: true }],
  });
  await running.stop();
});

test('pods that are not ready or that end are said to be so; ended ones are left out', async () => {
  const api = await fixture();
  api.seed(POD, pod(1), pod(2, { ready: false }), pod(3));
  const running = await startOnFake(api, endpointSliceController);
  await api.client().resource(POD, 'default').delete('p1');
  api.edit(POD, 'p3', (one) => (one.status = { ...one.status, phase: 'Succeeded' }));
  await api.settle();
  expect(view(api)).toEqual([
    {
      ports: [8080],
      endpoints: [
        ['10.0.0.1', false, true, true],
        ['10.0.0.2', false, false, false],
      ],
    },
  ]);
  await running.stop();
});

test('publishNotReadyAddresses makes everything ready', async () => {
  const api = await fixture({ publishNotReadyAddresses: true, clusterIP: 'None' });
  api.seed(POD, pod(2, { ready: false }));
  const running = await startOnFake(api, endpointSliceController);
  expect(view(api)).toEqual([{ ports: [8080], endpoints: [['10.0.0.2', true, false, false]] }]);
  expect(api.list(ENDPOINT_SLICE)[0]?.metadata.labels?.['service.kubernetes.io/headless']).toBe('');
  await running.stop();
});

test('pods with different named ports are in separate slices, and slices hold a hundred', async () => {
  const api = await fixture();
  api.seed(POD, ...Array.from({ length: 120 }, (_, i) => pod(i + 1)), pod(200, { port: 9090 }));
  const running = await startOnFake(api, endpointSliceController);
  expect(
    view(api)
      .map(({ ports, endpoints }) => [ports[0], endpoints.length])
      .sort(),
  ).toEqual([
    [8080, 100],
    [8080, 20],
    [9090, 1],
  ]);
  api.forgetRequests();
  api.edit(POD, 'p7', (one) => (one.status!.conditions![0]!.status = 'False'));
  await api.settle();
  expect(api.writes().map((text) => text.split(' ')[0])).toEqual(['update']);
  await running.stop();
});

test('a pod of a node that is not known waits for it', async () => {
  const api = await fixture();
  api.seed(POD, pod(1, { node: 'later' }));
  const running = await startOnFake(api, endpointSliceController);
  expect(view(api)).toEqual([{ ports: [], endpoints: [] }]);
  expect(running.events[0]).toBe(
    'Warning FailedToUpdateEndpointSlices default/web: Error updating Endpoint Slices for Service default/web: ' +
      'skipping Pod p1 for Service default/web: Node later Not Found',
  );
  api.seed(NODE, { metadata: { name: 'later' } });
  await api.advance(1_000, 100);
  expect(view(api)).toEqual([{ ports: [8080], endpoints: [['10.0.0.1', true, true, false]] }]);
  await running.stop();
});
