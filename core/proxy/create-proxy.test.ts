import { createSocket } from 'node:dgram';
import { connect as connectSocket } from 'node:net';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { parseIpv4Range } from '../base/bind-rules.ts';
import { silentLog } from '../base/log.ts';
import { formatTime } from '../api/meta/index.ts';
import {
  ENDPOINT_SLICE,
  InformerFactory,
  NODE,
  SERVICE,
  type EventRecorder,
  type Service,
} from '../client/index.ts';
import { FakeApi } from '../client/testing/index.ts';
import {
  eventually,
  namedEcho,
  tcpClient,
  tcpServer,
  testNetwork,
  udpClient,
  udpNamed,
  whoAnswers,
} from './forwarding/testing/sockets.ts';
import { createProxy } from './create-proxy.ts';

const NET = testNetwork(2);
const VIP = `${NET}.64.5`;
/** Not a well-known one: those are for root alone on some machines. */
const PORT = 4080;
const NODE_ADDRESS = `${NET}.0.1`;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const start = async (api: FakeApi, nodeNames = ['n1']) => {
  const { clock, random } = api;
  const informers = new InformerFactory({
    client: api.client(),
    clock,
    random,
    log: silentLog,
    freeze: true,
  });
  const told: string[] = [];
  const events: EventRecorder = {
    event: ({ metadata = {} }, type, reason, message) =>
      void told.push(`${type} ${reason} ${metadata.name}: ${message}`),
  };
  const claims = {
    external: [parseIpv4Range(`${NET}.8.0/21`)!],
    nodePort: [parseIpv4Range(`${NET}.0.0/16`)!],
  };
  const clusterRanges = [parseIpv4Range(`${NET}.200.0/24`)!];
  const options = { claims, clusterRanges, events };
  const proxy = createProxy({ informers, nodeNames, clock, random, log: silentLog, ...options });
  const close = async () => {
    await proxy.close();
    await informers.stop();
  };
  closers.push(close);
  informers.start();
  await api.settle();
  await proxy.synced;
  return {
    proxy,
    close,
    told,
    async settle() {
      await api.settle();
      await proxy.settled();
    },
  };
};

const pod = async (address: string, name: string, port = 8080) => {
  const server = await namedEcho(address, port, name);
  closers.push(() => server.close());
  return server;
};

const seedService = (api: FakeApi, spec: Service['spec'] = {}, name = 'web') =>
  api.seed(SERVICE, {
    metadata: { name },
    spec: { clusterIP: VIP, ports: [{ name: 'http', port: PORT, protocol: 'TCP' }], ...spec },
  });

interface SeedEndpoint {
  readonly address: string;
  readonly ready?: boolean;
  readonly serving?: boolean;
  readonly terminating?: boolean;
  readonly nodeName?: string;
}

const toEndpoints = (endpoints: readonly SeedEndpoint[]) =>
  endpoints.map(({ address, nodeName, ready = true, serving = ready, terminating = false }) => ({
    addresses: [address],
    conditions: { ready, serving, terminating },
    ...(nodeName !== undefined && { nodeName }),
  }));

const seedSlice = (
  api: FakeApi,
  endpoints: readonly SeedEndpoint[],
  port: { name: string; port: number; protocol: string } = { name: 'http', port: 8080, protocol: 'TCP' },
) =>
  api.seed(ENDPOINT_SLICE, {
    metadata: { name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: toEndpoints(endpoints),
    ports: [port],
  });

const seedNode = (api: FakeApi, name: string, address: string, podCIDR: string) =>
  api.seed(NODE, {
    metadata: { name },
    spec: { podCIDR, podCIDRs: [podCIDR] },
    status: { addresses: [{ type: 'InternalIP', address }] },
  });

test('connections to a service go to its ready endpoints in turn', async () => {
  const api = new FakeApi();
  await pod(`${NET}.200.1`, 'a');
  await pod(`${NET}.200.2`, 'b');
  seedService(api);
  seedSlice(api, [
    { address: `${NET}.200.1` },
    { address: `${NET}.200.2` },
    { address: `${NET}.200.3`, ready: false },
  ]);
  await start(api);
  const seen = [];
  for (let index = 0; index < 4; index += 1) seen.push(await whoAnswers(VIP, PORT));
  expect(seen.sort()).toEqual(['a', 'a', 'b', 'b']);
});

test('a pod that ends keeps its connections, and new ones go to its successor', async () => {
  const api = new FakeApi();
  await pod(`${NET}.200.1`, 'old');
  await pod(`${NET}.200.2`, 'new');
  seedService(api);
  seedSlice(api, [{ address: `${NET}.200.1` }]);
  const { settle } = await start(api);
  const client = tcpClient(VIP, PORT);
  await client.until('old\n');
  api.edit(ENDPOINT_SLICE, 'web-1', (slice) => {
    slice.endpoints = toEndpoints([
      { address: `${NET}.200.1`, ready: false, serving: true, terminating: true },
      { address: `${NET}.200.2` },
    ]);
  });
  await settle();
  expect([await whoAnswers(VIP, PORT), await whoAnswers(VIP, PORT)]).toEqual(['new', 'new']);
  client.socket.write('still here\n');
  await client.until('still here\n');
  client.socket.destroy();
});

test('a service without endpoints resets, and one that is deleted refuses', async () => {
  const api = new FakeApi();
  seedService(api);
  const { settle, proxy } = await start(api);
  expect(await whoAnswers(VIP, PORT)).toBe('ECONNRESET');
  api.remove(SERVICE, 'web');
  await settle();
  expect([await whoAnswers(VIP, PORT), proxy.places()]).toEqual(['ECONNREFUSED', []]);
});

test('a change of one service leaves the listeners of another alone', async () => {
  const api = new FakeApi();
  await pod(`${NET}.200.1`, 'a');
  seedService(api);
  seedSlice(api, [{ address: `${NET}.200.1` }]);
  const { settle, proxy } = await start(api);
  seedService(api, { clusterIP: `${NET}.64.6` }, 'other');
  await settle();
  api.edit(SERVICE, 'other', (service) => {
    service.spec!.ports = [{ port: 4081, protocol: 'TCP' }];
  });
  await settle();
  expect(proxy.places().map(({ place, state }) => `${place.address}:${place.port} ${state}`)).toEqual([
    `${VIP}:${PORT} listening`,
    `${NET}.64.6:4081 listening`,
  ]);
  expect(await whoAnswers(VIP, PORT)).toBe('a');
});

test('node ports are served on the addresses of our nodes, with Local only by their own endpoints', async () => {
  const api = new FakeApi();
  await pod(`${NET}.200.1`, 'a');
  seedNode(api, 'n1', NODE_ADDRESS, `${NET}.200.0/24`);
  seedNode(api, 'n2', `${NET}.0.2`, `${NET}.201.0/24`);
  seedNode(api, 'n3', `${NET}.0.3`, `${NET}.202.0/24`);
  seedService(api, {
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 30_900,
    ports: [{ name: 'http', port: PORT, nodePort: 30_080, protocol: 'TCP' }],
  });
  seedSlice(api, [{ address: `${NET}.200.1`, nodeName: 'n1' }]);
  await start(api, ['n1', 'n2']);
  expect([
    await whoAnswers(NODE_ADDRESS, 30_080),
    await whoAnswers(`${NET}.0.2`, 30_080),
    await whoAnswers(`${NET}.0.3`, 30_080),
  ]).toEqual(['a', 'ECONNRESET', 'ECONNREFUSED']);
  const answers = await Promise.all(
    [NODE_ADDRESS, `${NET}.0.2`].map(async (address) => {
      const response = await fetch(`http://${address}:30900/`);
      return [response.status, await response.json()];
    }),
  );
  const body = { service: { namespace: 'default', name: 'web' }, serviceProxyHealthy: true };
  expect(answers).toEqual([
    [200, { ...body, localEndpoints: 1 }],
    [503, { ...body, localEndpoints: 0 }],
  ]);
});

test('with an internal policy of Local a client of a node gets the endpoints of that node', async () => {
  const api = new FakeApi();
  await pod(`${NET}.200.1`, 'a');
  await pod(`${NET}.201.1`, 'b');
  seedNode(api, 'n1', NODE_ADDRESS, `${NET}.200.0/24`);
  seedNode(api, 'n2', `${NET}.0.2`, `${NET}.201.0/24`);
  seedService(api, { internalTrafficPolicy: 'Local' });
  seedSlice(api, [
    { address: `${NET}.200.1`, nodeName: 'n1' },
    { address: `${NET}.201.1`, nodeName: 'n2' },
  ]);
  await start(api);
  const from = async (localAddress: string): Promise<string> => {
    const socket = connectSocket({ host: VIP, port: PORT, localAddress });
    const [data] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return data.toString().trim();
  };
  expect([
    await from(`${NET}.200.9`),
    await from(`${NET}.200.9`),
    await from(`${NET}.201.9`),
    await from(`${NET}.0.2`),
  ]).toEqual(['a', 'a', 'b', 'b']);
});

test('endpoints see the address of the client, over TCP and UDP', async () => {
  const api = new FakeApi();
  const seen: string[] = [];
  const server = await tcpServer(`${NET}.200.1`, 8080, (socket) => {
    seen.push(socket.remoteAddress ?? '');
    socket.end('x');
  });
  closers.push(() => server.close());
  const datagrams = createSocket('udp4');
  datagrams.on('message', (_, { address, port }) => datagrams.send(address, port, address));
  datagrams.bind(5353, `${NET}.200.1`);
  closers.push(() => datagrams.close());
  seedService(api, {
    ports: [
      { name: 'http', port: PORT, protocol: 'TCP' },
      { name: 'dns', port: 4053, protocol: 'UDP' },
    ],
  });
  seedSlice(api, [{ address: `${NET}.200.1` }]);
  api.edit(ENDPOINT_SLICE, 'web-1', (slice) => {
    slice.ports!.push({ name: 'dns', port: 5353, protocol: 'UDP' });
  });
  await start(api);
  const pod = `${NET}.200.9`;
  for (const localAddress of [pod, undefined]) {
    const socket = connectSocket({ host: VIP, port: PORT, ...(localAddress && { localAddress }) });
    await once(socket.resume(), 'close');
  }
  const client = createSocket('udp4');
  closers.push(() => client.close());
  client.bind(0, pod, () => client.send('?', 4053, VIP));
  const [answer] = (await once(client, 'message')) as [Buffer];
  expect([seen, answer.toString()]).toEqual([[pod, '127.0.0.1'], pod]);
});

test('with affinity a client stays until its timeout', async () => {
  const api = new FakeApi();
  await pod(`${NET}.200.1`, 'a');
  await pod(`${NET}.200.2`, 'b');
  seedService(api, {
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 100 } },
  });
  seedSlice(api, [{ address: `${NET}.200.1` }, { address: `${NET}.200.2` }]);
  await start(api);
  const first = await whoAnswers(VIP, PORT);
  expect([await whoAnswers(VIP, PORT), await whoAnswers(VIP, PORT)]).toEqual([first, first]);
  api.clock.advance(100_000);
  expect(await whoAnswers(VIP, PORT)).not.toBe(first);
});

test('datagrams reach an endpoint, and another when the first is gone', async () => {
  const api = new FakeApi();
  for (const [address, name] of [
    [`${NET}.200.1`, 'a'],
    [`${NET}.200.2`, 'b'],
  ] as const) {
    const server = await udpNamed(address, 5353, name);
    closers.push(() => server.close());
  }
  const port = { name: 'dns', port: 5353, protocol: 'UDP' };
  seedService(api, { ports: [{ name: 'dns', port: 4053, protocol: 'UDP' }] });
  seedSlice(api, [{ address: `${NET}.200.1` }], port);
  const { settle } = await start(api);
  const client = udpClient(VIP, 4053);
  closers.push(() => client.close());
  expect(await client.ask('1')).toBe('a:1');
  api.edit(ENDPOINT_SLICE, 'web-1', (slice) => {
    slice.endpoints = toEndpoints([{ address: `${NET}.200.2` }]);
  });
  await settle();
  expect(await client.ask('2')).toBe('b:2');
});

test('a second proxy is on standby and takes over when the first ends', async () => {
  const api = new FakeApi();
  await pod(`${NET}.200.1`, 'a');
  seedService(api);
  seedSlice(api, [{ address: `${NET}.200.1` }]);
  const first = await start(api);
  const second = await start(api);
  expect([first, second].map(({ proxy }) => proxy.places()[0]!.state)).toEqual(['listening', 'standby']);
  await first.close();
  api.clock.advance(500);
  await eventually(() => second.proxy.places()[0]!.state === 'listening');
  expect(await whoAnswers(VIP, PORT)).toBe('a');
});

test('of two services that want one address the first has it, and the other when it is free', async () => {
  const api = new FakeApi();
  await pod(`${NET}.200.1`, 'a');
  seedService(api, { externalIPs: [`${NET}.9.9`] });
  seedSlice(api, [{ address: `${NET}.200.1` }]);
  const { settle } = await start(api);
  seedService(api, { clusterIP: `${NET}.64.6`, externalIPs: [`${NET}.9.9`] }, 'other');
  await settle();
  expect(await whoAnswers(`${NET}.9.9`, PORT)).toBe('a');
  api.remove(SERVICE, 'web');
  await settle();
  expect(await whoAnswers(`${NET}.9.9`, PORT)).toBe('ECONNRESET');
});

test.each<[string, string, number, string]>([
  ['a control plane', `${NET}.0.9`, 6443, 'is not allowed'],
  ['another host', `${NET}.0.100`, 6443, 'is not allowed'],
  ['this machine', '127.0.0.1', 4999, 'is not allowed'],
  ['every address', '0.0.0.0', 4999, 'stands for every address'],
  ['another cluster', '127.250.64.1', 4999, 'is not allowed'],
  ['an address beyond loopback', '192.0.2.7', 4999, 'is not allowed'],
  ['the kubelet of its node', NODE_ADDRESS, 10_250, 'is reserved for kubelet'],
  ['the cluster IP of another service', `${NET}.64.9`, 4999, 'is not allowed'],
  ['the load balancer of another service', `${NET}.8.9`, 4999, 'belongs to Service default/held'],
])('externalIPs of %s are refused with an event', async (_, address, port, why) => {
  const api = new FakeApi();
  seedNode(api, 'n1', NODE_ADDRESS, `${NET}.200.0/24`);
  api.seed(NODE, {
    metadata: { name: 'cp-1', labels: { 'node-role.kubernetes.io/control-plane': '' } },
    status: { addresses: [{ type: 'InternalIP', address: `${NET}.0.9` }] },
  });
  api.seed(SERVICE, {
    metadata: { name: 'held' },
    spec: { type: 'LoadBalancer', clusterIP: `${NET}.64.9`, ports: [{ port: 4998, protocol: 'TCP' }] },
    status: { loadBalancer: { ingress: [{ ip: `${NET}.8.9`, ipMode: 'Proxy' }] } },
  });
  const { proxy, told } = await start(api, ['n1', 'cp-1']);
  seedService(api, { externalIPs: [address], ports: [{ name: 'http', port, protocol: 'TCP' }] });
  await api.settle();
  await proxy.settled();
  expect(told).toEqual([
    expect.stringContaining(`Warning AddressNotAllowed web: externalIPs ${address}:${port}`),
  ]);
  expect(told[0]).toContain(why);
  const places = proxy.places().map(({ place }) => `${place.address}:${place.port}`);
  expect(places).not.toContain(`${address}:${port}`);
});

test('a claim gives way when its address is allocated to another service, and comes back after it', async () => {
  const api = new FakeApi();
  const address = `${NET}.8.7`;
  seedService(api, { externalIPs: [address] });
  const { settle, proxy, told } = await start(api);
  const isServed = () => proxy.places().some(({ place }) => place.address === address);
  const seen = [isServed()];
  api.seed(SERVICE, {
    metadata: { name: 'balanced' },
    spec: { type: 'LoadBalancer', clusterIP: `${NET}.64.9`, ports: [{ port: 4998, protocol: 'TCP' }] },
    status: { loadBalancer: { ingress: [{ ip: address, ipMode: 'Proxy' }] } },
  });
  await settle();
  seen.push(isServed());
  api.remove(SERVICE, 'balanced');
  await settle();
  seen.push(isServed());
  expect([seen, told.length]).toEqual([[true, false, true], 1]);
});

test('node ports and their health checks never take a port of a component', async () => {
  const api = new FakeApi();
  seedNode(api, 'n1', NODE_ADDRESS, `${NET}.200.0/24`);
  api.seed(NODE, {
    metadata: { name: 'n2' },
    status: { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }] },
  });
  const { settle, proxy, told } = await start(api, ['n1', 'n2']);
  seedService(api, {
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 10_256,
    ports: [
      { name: 'a', port: 4081, nodePort: 10_250, protocol: 'TCP' },
      { name: 'b', port: 4082, nodePort: 30_080, protocol: 'TCP' },
    ],
  });
  await settle();
  expect(proxy.places().map(({ place }) => `${place.address}:${place.port}`)).toEqual([
    `${VIP}:4081`,
    `${VIP}:4082`,
    `${NODE_ADDRESS}:30080`,
  ]);
  expect(told.map((text) => /: (nodePort \S+) is not served: (.*)$/.exec(text)?.slice(1).join(' '))).toEqual([
    `nodePort ${NODE_ADDRESS}:10250/TCP ${NODE_ADDRESS}:10250 is reserved for kubelet`,
    expect.stringContaining('nodePort 127.0.0.1:10250/TCP address 127.0.0.1 is not allowed'),
    expect.stringContaining('nodePort 127.0.0.1:30080/TCP address 127.0.0.1 is not allowed'),
    `nodePort ${NODE_ADDRESS}:10256/TCP ${NODE_ADDRESS}:10256 is reserved for kube-proxy`,
    expect.stringContaining('nodePort 127.0.0.1:10256/TCP address 127.0.0.1 is not allowed'),
  ]);
});

test('endpoints on loopback addresses that are not the cluster’s are not connected to', async () => {
  const api = new FakeApi();
  const foreign = `127.${Number(NET.split('.')[1]) + 1}.200.1`;
  await pod(foreign, 'foreign');
  seedService(api);
  seedSlice(api, [{ address: foreign }]);
  await start(api);
  expect(await whoAnswers(VIP, PORT)).toBe('ECONNRESET');
});

test('metrics and health tell how it keeps up', async () => {
  const api = new FakeApi();
  seedNode(api, 'n1', NODE_ADDRESS, `${NET}.200.0/24`);
  seedService(api);
  const { proxy, settle } = await start(api);
  const triggered = formatTime(api.clock.nowMs());
  api.clock.advance(3000);
  api.seed(ENDPOINT_SLICE, {
    metadata: {
      name: 'web-1',
      labels: { 'kubernetes.io/service-name': 'web' },
      annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': triggered },
    },
    addressType: 'IPv4',
    endpoints: [],
    ports: [],
  });
  await settle();
  const text = proxy.registry.expose();
  expect(text).toContain('kubeproxy_network_programming_duration_seconds_sum{ip_family="IPv4"} 3\n');
  expect(text).toContain('kubeproxy_sync_proxy_rules_endpoint_changes_total{ip_family="IPv4"} 1\n');
  expect(text).toContain('kubeproxy_loopback_listeners{state="listening"} 1\n');
  expect(proxy.health.answer('/healthz')).toMatchObject({ code: 200 });
  api.edit(NODE, 'n1', (node) => {
    node.spec!.taints = [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }];
  });
  await settle();
  expect([proxy.health.answer('/healthz')?.code, proxy.health.answer('/livez')?.code]).toEqual([503, 200]);
});
