import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { seededRandom } from '../../base/random.ts';
import type { EndpointSlice, Node, Service, Stored } from '../../client/index.ts';
import { bindingsOf, type Binding } from './bindings.ts';
import { endpointsOf, type Endpoint } from './endpoints.ts';
import { NodeTable } from './node-table.ts';
import { PortTargets } from './port-targets.ts';
import { selectEndpoints } from './select-endpoints.ts';
import { servicePortsOf, type ServicePort } from './service-port.ts';

const service = (spec: Service['spec'], more: Partial<Service> = {}): Stored<Service> => ({
  ...more,
  metadata: { name: 'web', namespace: 'default', uid: 'u', resourceVersion: '1', ...more.metadata },
  spec: { clusterIP: '127.20.64.5', ports: [{ port: 80, protocol: 'TCP' }], ...spec },
});

const node = (name: string, address: string, podCIDR: string, zone?: string): Stored<Node> => ({
  metadata: {
    name,
    uid: name,
    resourceVersion: '1',
    ...(zone !== undefined && { labels: { 'topology.kubernetes.io/zone': zone } }),
  },
  spec: { podCIDR, podCIDRs: [podCIDR] },
  status: { addresses: [{ type: 'InternalIP', address }] },
});

const endpoint = (name: string, more: Partial<Endpoint> = {}): Endpoint => ({
  name,
  host: name,
  port: 1,
  nodeName: undefined,
  isReady: true,
  isServing: true,
  isTerminating: false,
  forZones: undefined,
  forNodes: undefined,
  ...more,
});

test.each<[string, Stored<Service>]>([
  ['headless', service({ clusterIP: 'None' })],
  ['a name elsewhere', service({ type: 'ExternalName', externalName: 'example.org' })],
  ['without an address yet', service({ clusterIP: '' })],
  [
    "another proxy's",
    service({}, { metadata: { labels: { 'service.kubernetes.io/service-proxy-name': 'other' } } }),
  ],
])('a service that is %s has no ports to serve', (_, it) => {
  expect(servicePortsOf(it)).toEqual([]);
});

test('a port carries what its service says about addresses, affinity and policies', () => {
  const [port] = servicePortsOf(
    service(
      {
        type: 'LoadBalancer',
        clusterIPs: ['127.20.64.5', 'fd00::5'],
        externalIPs: ['127.20.9.9'],
        ports: [
          { name: 'http', port: 80, nodePort: 30080, protocol: 'TCP' },
          { name: 's', port: 1, protocol: 'SCTP' },
        ],
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
        externalTrafficPolicy: 'Local',
        loadBalancerSourceRanges: ['127.0.0.0/8'],
      },
      {
        status: {
          loadBalancer: {
            ingress: [
              { ip: '127.20.8.1', ipMode: 'VIP' },
              { ip: '127.20.8.2', ipMode: 'Proxy' },
            ],
          },
        },
      },
    ),
  );
  expect(port).toEqual({
    service: 'default/web',
    name: 'http',
    protocol: 'TCP',
    port: 80,
    nodePort: 30080,
    clusterIPs: ['127.20.64.5'],
    externalIPs: ['127.20.9.9'],
    loadBalancerIPs: ['127.20.8.1'],
    loadBalancerSourceRanges: ['127.0.0.0/8'],
    affinityTimeoutMs: 60_000,
    internalTrafficPolicy: 'Cluster',
    externalTrafficPolicy: 'Local',
  });
});

const slice = (endpoints: NonNullable<EndpointSlice['endpoints']>, addressType = 'IPv4'): EndpointSlice => ({
  addressType,
  endpoints,
  ports: [
    { name: 'http', port: 8080, protocol: 'TCP' },
    { name: 'dns', port: 53, protocol: 'UDP' },
  ],
});

const HTTP: ServicePort = servicePortsOf(
  service({ ports: [{ name: 'http', port: 80, protocol: 'TCP' }] }),
)[0]!;

test('endpoints of several slices are joined, each once, and unready beats nothing', () => {
  const found = endpointsOf(
    [
      slice([
        { addresses: ['127.21.0.3'], conditions: { ready: false, serving: false } },
        { addresses: ['127.21.0.2'], nodeName: 'n1', hints: { forZones: [{ name: 'a' }] } },
      ]),
      slice([{ addresses: ['127.21.0.3'], conditions: { ready: true } }]),
      slice([{ addresses: ['fd00::1'] }], 'IPv6'),
    ],
    HTTP,
  );
  expect(found).toEqual([
    { ...endpoint('127.21.0.2:8080'), host: '127.21.0.2', port: 8080, nodeName: 'n1', forZones: ['a'] },
    { ...endpoint('127.21.0.3:8080'), host: '127.21.0.3', port: 8080 },
  ]);
});

const ENDING = { isReady: false, isTerminating: true };
const OUTSIDE = { node: undefined, zone: undefined };
test.each<[string, Endpoint[], 'Cluster' | 'Local', { node?: string; zone?: string }, string[]]>([
  ['ready ones only', [endpoint('a'), endpoint('b', ENDING)], 'Cluster', {}, ['a']],
  ['ending ones when there is none', [endpoint('b', ENDING)], 'Cluster', {}, ['b']],
  ['not those that no longer serve', [endpoint('b', { ...ENDING, isServing: false })], 'Cluster', {}, []],
  [
    'those on the node',
    [endpoint('a', { nodeName: 'n1' }), endpoint('b', { nodeName: 'n2' })],
    'Local',
    { node: 'n2' },
    ['b'],
  ],
  ['nobody when the node has none', [endpoint('a', { nodeName: 'n1' })], 'Local', { node: 'n2' }, []],
  ['everybody for a client on no node', [endpoint('a', { nodeName: 'n1' })], 'Local', {}, ['a']],
  [
    'those meant for the zone',
    [endpoint('a', { forZones: ['x'] }), endpoint('b', { forZones: ['y'] })],
    'Cluster',
    { node: 'n', zone: 'y' },
    ['b'],
  ],
  [
    'everybody when one has no hint',
    [endpoint('a'), endpoint('b', { forZones: ['y'] })],
    'Cluster',
    { node: 'n', zone: 'y' },
    ['a', 'b'],
  ],
  [
    'everybody when none is meant for the zone',
    [endpoint('a', { forZones: ['x'] })],
    'Cluster',
    { node: 'n', zone: 'z' },
    ['a'],
  ],
])('connections go to %s', (_, endpoints, policy, origin, names) => {
  const selected = selectEndpoints(endpoints, policy, { ...OUTSIDE, ...origin });
  expect(selected.map(({ name }) => name)).toEqual(names);
});

test('a client is known by the address of its node, or by the range of its pods', () => {
  const nodes = new NodeTable();
  nodes.set(node('n1', '127.20.0.1', '127.21.0.0/24', 'a'));
  nodes.set(node('n2', '127.20.16.1', '127.21.1.0/26', 'b'));
  expect(
    ['127.20.16.1', '127.21.0.255', '127.21.1.63', '127.21.1.64', '127.0.0.1', '::1'].map(
      (address) => nodes.originOf(address).node,
    ),
  ).toEqual(['n2', 'n1', 'n2', undefined, undefined, undefined]);
  expect([
    nodes.set(node('n1', '127.20.0.1', '127.21.0.0/24', 'a')),
    nodes.delete('n2'),
    nodes.originOf('127.21.1.5').node,
  ]).toEqual([false, true, undefined]);
});

test('a service wants its own addresses, and its node port on those of our nodes', () => {
  const nodes = new NodeTable();
  nodes.set(node('ours', '127.20.0.1', '127.21.0.0/24'));
  nodes.set(node('theirs', '127.20.0.2', '127.21.1.0/24'));
  const [port] = servicePortsOf(
    service({
      type: 'NodePort',
      externalIPs: ['192.0.2.7'],
      ports: [{ port: 80, nodePort: 30080, protocol: 'TCP' }],
    }),
  );
  expect(
    bindingsOf(port!, nodes, ['ours']).map(({ place, scope }) => `${scope} ${place.address}:${place.port}`),
  ).toEqual(['cluster 127.20.64.5:80', 'external 192.0.2.7:80', 'node-port 127.20.0.1:30080']);
});

test("a load balancer's address takes only clients of its source ranges", () => {
  const port: ServicePort = { ...HTTP, loadBalancerSourceRanges: ['127.50.0.0/16'] };
  const targets = new PortTargets(port, {
    nodes: new NodeTable(),
    clock: manualClock(),
    random: seededRandom(1),
  });
  targets.update(port, [endpoint('a')]);
  const binding = (scope: Binding['scope']): Binding => ({
    place: { protocol: 'TCP', address: '127.20.8.1', port: 80 },
    port: '',
    scope,
    node: undefined,
  });
  const none = new Set<string>();
  expect([
    targets.pick(binding('load-balancer'), '127.50.1.1', none)?.name,
    targets.pick(binding('load-balancer'), '127.51.1.1', none)?.name,
    targets.pick(binding('cluster'), '127.51.1.1', none)?.name,
  ]).toEqual(['a', undefined, 'a']);
});
