import { expect, test } from 'vitest';
import type { Endpoint } from '../model/endpoints.ts';
import type { ServicePort } from '../model/service-port.ts';
import { transactionOf, type Ruleset } from '../../base/nft-ruleset.ts';
import { serviceRules, type RulesNode, type ServedPort } from './service-rules.ts';
import { staleFlows } from './stale-flows.ts';

const TABLE = { family: 'ip', name: 'kube-proxy' } as const;

const endpoint = (host: string, more: Partial<Endpoint> = {}): Endpoint => ({
  name: `${host}:8080`,
  host,
  port: 8080,
  nodeName: 'n1',
  isReady: true,
  isServing: true,
  isTerminating: false,
  forZones: undefined,
  forNodes: undefined,
  ...more,
});

const port = (more: Partial<ServicePort> = {}): ServicePort => ({
  service: 'default/web',
  name: 'http',
  protocol: 'TCP',
  port: 80,
  nodePort: undefined,
  clusterIPs: ['10.96.0.1'],
  externalIPs: [],
  loadBalancerIPs: [],
  loadBalancerSourceRanges: [],
  affinityTimeoutMs: undefined,
  internalTrafficPolicy: 'Cluster',
  externalTrafficPolicy: 'Cluster',
  ...more,
});

const NODE: RulesNode = {
  nodeNames: ['n1'],
  originOf: (node) => ({ node, zone: 'z1' }),
  nodePortAddresses: ['192.0.2.1'],
  clusterRanges: [],
};

const rules = (served: ServedPort, node: Partial<RulesNode> = {}): Ruleset =>
  serviceRules([served], { ...NODE, ...node });
const elements = (ruleset: Ruleset, name: string): Record<string, string> =>
  Object.fromEntries(ruleset.collections.get(name)!.elements);
/** Rules of the chains of a kind, with hashes left out. */
const chains = (ruleset: Ruleset, kind: string): (readonly string[])[] =>
  [...ruleset.chains]
    .filter(([name]) => name.startsWith(`${kind}-`) && name.includes('default/web'))
    .map(([, chain]) =>
      chain.rules.map((rule) => rule.replace(/-[0-9a-f]{8}-default\/web\S*?(?=[ ,]|$)/g, '')),
    );

test('a cluster IP is balanced over its endpoints', () => {
  const ruleset = rules({ port: port(), endpoints: [endpoint('10.0.0.1'), endpoint('10.0.0.2')] });
  expect(chains(ruleset, 'service')).toEqual([
    ['numgen random mod 2 vmap { 0 : goto endpoint, 1 : goto endpoint }'],
  ]);
  expect(chains(ruleset, 'endpoint')[0]).toEqual([
    'ip saddr 10.0.0.1 jump mark-for-masquerade',
    'meta l4proto tcp dnat to 10.0.0.1:8080',
  ]);
  expect(elements(ruleset, 'service-ips')).toEqual({
    '10.96.0.1 . tcp . 80': expect.stringMatching(
      /^goto service-[0-9a-f]{8}-default\/web\/tcp\/http$/,
    ) as string,
  });
});

const FAR = endpoint('10.0.0.2', { nodeName: 'n2' });
test.each<[string, Partial<ServicePort>, Endpoint[], Record<string, string>]>([
  ['no endpoint rejects', {}, [], { '10.96.0.1 . tcp . 80': 'goto reject-chain' }],
  ['no local endpoint drops', { internalTrafficPolicy: 'Local' }, [FAR], { '10.96.0.1 . tcp . 80': 'drop' }],
  [
    'an unready endpoint is none',
    {},
    [endpoint('10.0.0.1', { isReady: false, isServing: false })],
    { '10.96.0.1 . tcp . 80': 'goto reject-chain' },
  ],
  [
    'the last that ends still serves',
    {},
    [endpoint('10.0.0.1', { isReady: false, isTerminating: true })],
    {},
  ],
  [
    'no local endpoint drops what comes from outside',
    { externalTrafficPolicy: 'Local', loadBalancerIPs: ['198.51.100.1'] },
    [FAR],
    { '198.51.100.1 . tcp . 80': 'drop' },
  ],
])('%s', (_, more, endpoints, expected) => {
  expect(elements(rules({ port: port(more), endpoints }), 'no-endpoint-services')).toEqual(expected);
});

test('traffic from outside is masqueraded, unless the policy is Local', () => {
  const endpoints = [endpoint('10.0.0.1'), FAR];
  const outside = { nodePort: 30_080, externalIPs: ['198.51.100.1'] };
  expect(chains(rules({ port: port(outside), endpoints }), 'external')).toEqual([
    ['jump mark-for-masquerade', 'goto service'],
  ]);
  const local = rules(
    { port: port({ ...outside, externalTrafficPolicy: 'Local' }), endpoints },
    { clusterRanges: ['10.0.0.0/8'] },
  );
  expect(chains(local, 'external')).toEqual([
    [
      'ip saddr { 10.0.0.0/8 } goto service',
      'fib saddr type local jump mark-for-masquerade',
      'fib saddr type local goto service',
      'goto local',
    ],
  ]);
  expect(Object.keys(elements(local, 'service-nodeports'))).toEqual(['tcp . 30080']);
  expect(elements(local, 'nodeport-ips')).toEqual({ '192.0.2.1': '' });
});

test('a range that says nothing admits no one', () => {
  const firewall = (loadBalancerSourceRanges: string[]) =>
    chains(
      rules({
        port: port({ loadBalancerIPs: ['198.51.100.1'], loadBalancerSourceRanges }),
        endpoints: [endpoint('10.0.0.1')],
      }),
      'firewall',
    );
  expect(firewall([' 10.0.0.0/8 ', 'x; drop'])).toEqual([['ip saddr != { 10.0.0.0/8 } drop']]);
  expect(firewall(['10.0.0.0/8 } accept #'])).toEqual([['drop']]);
});

test('hints choose endpoints where this is one node, and affinity keeps a client at one', () => {
  const endpoints = [endpoint('10.0.0.1', { forZones: ['z2'] }), endpoint('10.0.0.2', { forZones: ['z1'] })];
  const ruleset = rules({ port: port({ affinityTimeoutMs: 10_000 }), endpoints });
  expect(chains(ruleset, 'service')).toEqual([
    [
      expect.stringMatching(/^ip saddr @affinity-[0-9a-f]{8} goto endpoint$/),
      'numgen random mod 1 vmap { 0 : goto endpoint }',
    ],
  ]);
  const [name] = [...ruleset.collections.keys()].filter((set) => set.startsWith('affinity-'));
  expect(ruleset.collections.get(name!)?.header).toBe('type ipv4_addr ; flags dynamic,timeout ; timeout 10s');
});

test('a transaction writes what has changed, and nothing where nothing has', () => {
  const before = rules({ port: port(), endpoints: [endpoint('10.0.0.1')] });
  const after = rules({ port: port(), endpoints: [endpoint('10.0.0.2')] });
  expect(transactionOf(TABLE, before, before)).toBe('');
  expect(transactionOf(TABLE, undefined, before).split('\n').slice(0, 3)).toEqual([
    'add table ip kube-proxy',
    'delete table ip kube-proxy',
    'add table ip kube-proxy',
  ]);
  const lines = transactionOf(TABLE, before, after).trim().split('\n');
  expect(lines.map((line) => line.replace(/-[0-9a-f]{8}-\S+/g, ''))).toEqual([
    'add chain ip kube-proxy endpoint',
    'add rule ip kube-proxy endpoint ip saddr 10.0.0.2 jump mark-for-masquerade',
    'add rule ip kube-proxy endpoint meta l4proto tcp dnat to 10.0.0.2:8080',
    'flush chain ip kube-proxy service',
    'add rule ip kube-proxy service numgen random mod 1 vmap { 0 : goto endpoint }',
    'flush chain ip kube-proxy endpoint',
    'delete chain ip kube-proxy endpoint',
  ]);
});

test('flows of UDP end with their endpoint, and begin again when a Service has endpoints', () => {
  const udp = port({ protocol: 'UDP', port: 53 });
  const to = ['-D', '-f', 'ipv4', '-p', 'udp', '--orig-dst', '10.96.0.1', '--orig-port-dst', '53'];
  const [a, b] = [endpoint('10.0.0.1'), endpoint('10.0.0.2')];
  const flows = (before: Endpoint[], after: Endpoint[]) =>
    staleFlows([{ port: udp, endpoints: before }], [{ port: udp, endpoints: after }]).map(({ args }) => args);
  expect(flows([a, b], [b])).toEqual([[...to, '--reply-src', '10.0.0.1']]);
  expect(flows([], [a])).toEqual([to]);
  expect(flows([a], [a, b])).toEqual([]);
});
