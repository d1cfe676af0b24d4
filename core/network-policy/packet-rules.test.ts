import { expect, test } from 'vitest';
import type { V1NetworkPolicy } from '../api/schema/index.ts';
import { packetRules, type PacketPod } from './packet-rules.ts';

const pod = (name: string, address: string, more: { namespace?: string; http?: number } = {}): PacketPod => ({
  address,
  pod: {
    namespace: more.namespace ?? 'default',
    name,
    labels: { app: name },
    hostIP: '192.0.2.1',
    ports: [{ name: 'http', containerPort: more.http ?? 8080, protocol: 'TCP' }],
  },
});

const PODS = [
  pod('web', '10.1.0.1'),
  pod('web', '10.1.0.2', { http: 9090 }),
  pod('client', '10.1.0.3'),
  pod('client', '10.1.0.4', { namespace: 'other' }),
  pod('client', '10.9.0.5'),
  pod('six', 'fd00::1'),
];

const rulesFor = (spec: NonNullable<V1NetworkPolicy['spec']>) => {
  const policy: V1NetworkPolicy = { metadata: { namespace: 'default', name: 'p' }, spec };
  const { chains, collections } = packetRules({
    pods: PODS,
    isLocal: (address) => address.startsWith('10.1.'),
    machines: ['192.0.2.2', 'fd00::2'],
    policies: [policy],
    source: { policiesOf: () => [policy], namespaceLabels: () => ({}) },
  });
  return {
    rules: [...chains].find(([name]) => name.startsWith('policy-'))?.[1].rules ?? [],
    pods: [...collections].flatMap(([name, { elements }]) =>
      [...elements.keys()].map((key) => `${name} ${key}`),
    ),
    chains,
  };
};
const web = { matchLabels: { app: 'web' } };
const client = { matchLabels: { app: 'client' } };

test('isolated pods of this machine have a chain that denies what no policy allows', () => {
  const { chains, pods, rules } = rulesFor({ podSelector: web, policyTypes: ['Ingress'] });
  expect(rules).toEqual([]);
  expect(pods).toEqual(['ingress-pods 10.1.0.1', 'ingress-pods 10.1.0.2']);
  expect(chains.get('pod-ingress-10.1.0.1')!.rules).toEqual([
    'jump policy-ingress-0',
    'meta l4proto tcp reject with tcp reset',
    'reject with icmp type admin-prohibited',
  ]);
  expect(chains.get('ingress')).toEqual({
    base: 'type filter hook forward priority -1 ; policy accept',
    rules: [
      'ct state established,related accept',
      'ip saddr { 192.0.2.2 } accept',
      'ip daddr vmap @ingress-pods',
    ],
  });
});

test.each<[string, NonNullable<V1NetworkPolicy['spec']>, readonly string[]]>([
  ['an empty rule allows everyone', { podSelector: web, ingress: [{}] }, ['accept']],
  [
    'peers are the addresses of pods of the namespace, also on other machines',
    {
      podSelector: web,
      ingress: [{ from: [{ podSelector: client }], ports: [{ port: 80 }, { port: 90, endPort: 99 }] }],
    },
    ['ip saddr { 10.1.0.3, 10.9.0.5 } tcp dport { 80, 90-99 } accept'],
  ],
  [
    'and of others, where namespaces are selected',
    { podSelector: web, ingress: [{ from: [{ namespaceSelector: {}, podSelector: client }] }] },
    ['ip saddr { 10.1.0.3, 10.1.0.4, 10.9.0.5 } accept'],
  ],
  [
    'peers that are nobody allow nothing',
    { podSelector: web, ingress: [{ from: [{ podSelector: { matchLabels: { app: 'none' } } }] }] },
    [],
  ],
  [
    'blocks have exceptions; those of IPv6 say nothing about IPv4',
    {
      podSelector: web,
      ingress: [
        {
          from: [
            { ipBlock: { cidr: '10.0.0.0/8', except: ['10.2.0.0/16'] } },
            { ipBlock: { cidr: 'fd00::/8' } },
          ],
        },
      ],
    },
    ['ip saddr 10.0.0.0/8 ip saddr != { 10.2.0.0/16 } accept'],
  ],
  [
    'protocols apart, and a protocol without a port is all of it',
    { podSelector: web, ingress: [{ ports: [{ protocol: 'UDP', port: 53 }, { protocol: 'TCP' }] }] },
    ['meta l4proto tcp accept', 'udp dport { 53 } accept'],
  ],
  [
    'a named port is what each pod that is connected to calls so',
    { podSelector: web, ingress: [{ ports: [{ port: 'http' }] }] },
    ['ip daddr { 10.1.0.1 } tcp dport 8080 accept', 'ip daddr { 10.1.0.2 } tcp dport 9090 accept'],
  ],
  [
    'also on the way out',
    {
      podSelector: client,
      policyTypes: ['Egress'],
      egress: [{ to: [{ podSelector: web }], ports: [{ port: 'http' }] }],
    },
    [
      'ip daddr { 10.1.0.1, 10.1.0.2 } ip daddr { 10.1.0.1 } tcp dport 8080 accept',
      'ip daddr { 10.1.0.1, 10.1.0.2 } ip daddr { 10.1.0.2 } tcp dport 9090 accept',
    ],
  ],
])('%s', (_, spec, expected) => {
  expect(rulesFor(spec).rules).toEqual(expected);
});
