import { afterEach, expect, test } from 'vitest';
import { ENDPOINT_SLICE, NODE, SERVICE, type Service } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import {
  eventually,
  namedEcho,
  testNetwork,
  udpClient,
  udpNamed,
  whoAnswers,
} from '../../proxy/forwarding/testing/sockets.ts';
import { startOnFake } from '../testing/start-on-fake.ts';
import { changeOf, CLEANUP_FINALIZER } from './service-changes.ts';
import { serviceLbController } from './service-lb-controller.ts';

const NET = testNetwork(3);
const PORT = 4500;
const FIRST = `${NET}.8.1`;
const SECOND = `${NET}.8.2`;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const lead = async (api: FakeApi) => {
  const running = await startOnFake(api, [serviceLbController], { 'load-balancer-range': `${NET}.8.0/29` });
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    await running.stop();
  };
  closers.push(stop);
  return { ...running, stop };
};

const seedNode = (api: FakeApi, name = 'n1') =>
  api.seed(NODE, { metadata: { name }, spec: { providerID: `loopback:///zone-a/${name}` } });

const seedService = (api: FakeApi, name = 'web', spec: Service['spec'] = {}) =>
  api.seed(SERVICE, {
    metadata: { name },
    spec: {
      type: 'LoadBalancer',
      clusterIP: `${NET}.64.1`,
      ports: [{ name: 'http', port: PORT, protocol: 'TCP' }],
      ...spec,
    },
  });

const seedEndpoint = async (api: FakeApi, service: string, address: string, name = service) => {
  const server = await namedEcho(address, 8080, name);
  closers.push(() => server.close());
  api.seed(ENDPOINT_SLICE, {
    metadata: { name: `${service}-1`, labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  });
};

const settled = async (api: FakeApi, isSo: () => boolean) => {
  await api.settle();
  await eventually(isSo);
  await api.settle();
};

const ingressOf = (api: FakeApi, name: string) =>
  api.get(SERVICE, name).status?.loadBalancer?.ingress?.map(({ ip }) => ip) ?? [];

test('a service gets an address that really answers, a finalizer, and the events that upstream tells', async () => {
  const api = new FakeApi();
  seedNode(api);
  await seedEndpoint(api, 'web', `${NET}.200.1`);
  const { events } = await lead(api);
  seedService(api);
  await settled(api, () => ingressOf(api, 'web').length > 0);
  const { metadata, status } = api.get(SERVICE, 'web');
  expect([metadata.finalizers, status?.loadBalancer]).toEqual([
    [CLEANUP_FINALIZER],
    { ingress: [{ ip: FIRST, ipMode: 'Proxy', ports: [{ port: PORT, protocol: 'TCP' }] }] },
  ]);
  expect(await whoAnswers(FIRST, PORT)).toBe('web');
  expect(events).toEqual([
    'Normal EnsuringLoadBalancer default/web: Ensuring load balancer',
    'Normal EnsuredLoadBalancer default/web: Ensured load balancer',
  ]);
});

test('a deleted service loses its listener and then its finalizer', async () => {
  const api = new FakeApi();
  seedNode(api);
  seedService(api);
  const { events } = await lead(api);
  await settled(api, () => ingressOf(api, 'web').length > 0);
  expect(await whoAnswers(FIRST, PORT)).toBe('ECONNRESET');
  await api.client().resource(SERVICE, 'default').delete('web');
  await settled(api, () => api.find(SERVICE, 'web') === undefined);
  expect(await whoAnswers(FIRST, PORT)).toBe('ECONNREFUSED');
  expect(events.slice(2)).toEqual([
    'Normal DeletingLoadBalancer default/web: Deleting load balancer',
    'Normal DeletedLoadBalancer default/web: Deleted load balancer',
  ]);
});

test('a service that becomes a ClusterIP gives its address back', async () => {
  const api = new FakeApi();
  seedNode(api);
  seedService(api);
  const { events } = await lead(api);
  await settled(api, () => ingressOf(api, 'web').length > 0);
  api.edit(SERVICE, 'web', (service) => {
    service.spec!.type = 'ClusterIP';
  });
  await settled(api, () => ingressOf(api, 'web').length === 0);
  expect(api.get(SERVICE, 'web').metadata.finalizers ?? []).toEqual([]);
  expect(events).toContain('Normal Type default/web: LoadBalancer -> ClusterIP');
  seedService(api, 'next');
  await settled(api, () => ingressOf(api, 'next').length > 0);
  expect(ingressOf(api, 'next')).toEqual([FIRST]);
});

test('the next leader takes the same addresses over', async () => {
  const api = new FakeApi();
  seedNode(api);
  await seedEndpoint(api, 'b', `${NET}.200.2`);
  seedService(api, 'a');
  seedService(api, 'b');
  const first = await lead(api);
  await settled(api, () => ingressOf(api, 'b').length > 0);
  expect([ingressOf(api, 'a'), ingressOf(api, 'b')]).toEqual([[FIRST], [SECOND]]);
  api.remove(SERVICE, 'a');
  await api.settle();
  // The old leader still listens when the new one starts, as after a lease that ran out.
  await lead(api);
  await api.settle();
  expect([ingressOf(api, 'b'), await whoAnswers(SECOND, PORT)]).toEqual([[SECOND], 'b']);
  await first.stop();
  api.clock.advance(500);
  let answer = '';
  while (answer !== 'b') answer = await whoAnswers(SECOND, PORT);
  expect(ingressOf(api, 'b')).toEqual([SECOND]);
});

test('endpoints that come later are used, and none are without nodes', async () => {
  const api = new FakeApi();
  seedService(api);
  const { events } = await lead(api);
  await settled(api, () => ingressOf(api, 'web').length > 0);
  expect(events).toContain(
    'Warning UnAvailableLoadBalancer default/web: There are no available nodes for LoadBalancer',
  );
  await seedEndpoint(api, 'web', `${NET}.200.1`);
  await api.settle();
  expect(await whoAnswers(FIRST, PORT)).toBe('ECONNRESET');
  seedNode(api);
  await api.settle();
  expect(await whoAnswers(FIRST, PORT)).toBe('web');
  expect(events.at(-1)).toBe('Normal UpdatedLoadBalancer default/web: Updated load balancer with new hosts');
});

test('an address that was asked for is given, and one outside the range is refused', async () => {
  const api = new FakeApi();
  seedNode(api);
  const { events } = await lead(api);
  seedService(api, 'web', { loadBalancerIP: `${NET}.8.5` });
  seedService(api, 'other', { loadBalancerIP: `${NET}.9.1` });
  await settled(api, () => ingressOf(api, 'web').length > 0);
  expect([ingressOf(api, 'web'), ingressOf(api, 'other')]).toEqual([[`${NET}.8.5`], []]);
  expect(events).toContain(
    `Warning SyncLoadBalancerFailed default/other: Error syncing load balancer: the address ${NET}.9.1 is not in --load-balancer-range`,
  );
});

test('addresses of nodes and those that other services claim by externalIPs are not given', async () => {
  const api = new FakeApi();
  seedNode(api);
  api.edit(NODE, 'n1', (node) => {
    node.status = { addresses: [{ type: 'InternalIP', address: FIRST }] };
  });
  api.seed(SERVICE, {
    metadata: { name: 'claims' },
    spec: { clusterIP: `${NET}.64.2`, externalIPs: [SECOND], ports: [{ port: PORT, protocol: 'TCP' }] },
  });
  const { events } = await lead(api);
  seedService(api, 'web');
  await settled(api, () => ingressOf(api, 'web').length > 0);
  seedService(api, 'node', { loadBalancerIP: FIRST });
  seedService(api, 'claimed', { loadBalancerIP: SECOND });
  await settled(api, () => events.filter((text) => text.includes('SyncLoadBalancerFailed')).length === 2);
  expect([ingressOf(api, 'web'), ingressOf(api, 'node'), ingressOf(api, 'claimed')]).toEqual([
    [`${NET}.8.3`],
    [],
    [],
  ]);
});

test('a service that claims the range by externalIPs leaves its addresses to load balancers', async () => {
  const api = new FakeApi();
  seedNode(api);
  const all = [1, 2, 3, 4, 5, 6].map((number) => `${NET}.8.${number}`);
  api.seed(SERVICE, {
    metadata: { name: 'claims' },
    spec: { clusterIP: `${NET}.64.2`, externalIPs: all, ports: [{ port: PORT, protocol: 'TCP' }] },
  });
  await lead(api);
  seedService(api, 'web');
  await settled(api, () => ingressOf(api, 'web').length > 0);
  expect(ingressOf(api, 'web')).toEqual([FIRST]);
});

test('datagrams are balanced too', async () => {
  const api = new FakeApi();
  seedNode(api);
  const server = await udpNamed(`${NET}.200.3`, 5353, 'dns');
  closers.push(() => server.close());
  api.seed(ENDPOINT_SLICE, {
    metadata: { name: 'dns-1', labels: { 'kubernetes.io/service-name': 'dns' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [`${NET}.200.3`] }],
    ports: [{ name: 'dns', port: 5353, protocol: 'UDP' }],
  });
  seedService(api, 'dns', { ports: [{ name: 'dns', port: 4553, protocol: 'UDP' }] });
  await lead(api);
  await settled(api, () => ingressOf(api, 'dns').length > 0);
  const client = udpClient(FIRST, 4553);
  closers.push(() => client.close());
  expect(await client.ask('1')).toBe('dns:1');
});

const lb = (spec: Service['spec'] = {}): Service => ({
  metadata: { uid: 'u' },
  spec: { type: 'LoadBalancer', ...spec },
});
test.each<[string, Service, Service, string | undefined]>([
  ['another class', lb(), lb({ loadBalancerClass: 'x' }), 'Type: LoadBalancer -> LoadBalancer'],
  [
    'source ranges',
    lb(),
    lb({ loadBalancerSourceRanges: ['127.0.0.0/8', '10.0.0.0/8'] }),
    'LoadBalancerSourceRanges: [] -> [127.0.0.0/8 10.0.0.0/8]',
  ],
  ['ports', lb({ ports: [{ port: 1 }] }), lb({ ports: [{ port: 2 }] }), ''],
  ['an address', lb(), lb({ loadBalancerIP: FIRST }), `LoadbalancerIP:  -> ${FIRST}`],
  ['external addresses', lb(), lb({ externalIPs: ['127.1.1.1'] }), 'ExternalIP: Count: 0 -> 1'],
  ['the selector', lb(), lb({ selector: { a: 'b' } }), undefined],
])('a change of %s is followed as upstream does', (_, before, after, told) => {
  const change = changeOf(before, after);
  const text = change && (change.event ? `${change.event.reason}: ${change.event.message}` : '');
  expect(text).toBe(told);
});
