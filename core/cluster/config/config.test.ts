import { expect, test } from 'vitest';
import { controlPlaneAddress, isNetwork, nodeCidrMaskSize, workerAddress } from './addresses.ts';
import {
  configWarnings,
  defaultSpec,
  formatClusterConfig,
  parseClusterConfig,
  type ClusterConfig,
} from './config.ts';
import { planHosts } from './hosts.ts';

const cluster = (spec: Partial<ClusterConfig['spec']> = {}): ClusterConfig => ({
  apiVersion: 'pilothouse.dev/v1',
  kind: 'Cluster',
  metadata: { name: 'desk' },
  spec: { ...defaultSpec(40), ...spec },
});

const reparse = (config: ClusterConfig): ClusterConfig =>
  parseClusterConfig(formatClusterConfig(config), 'cluster.yaml');

test('a configuration survives its file', () => {
  expect(reparse(cluster())).toEqual(cluster());
});

test.each<[string, Partial<ClusterConfig['spec']>, string]>([
  [
    'a release that is not emulated',
    { kubernetesVersion: 'v1.20.1' },
    'spec.kubernetesVersion: must be v1.34.P',
  ],
  ['an odd network', { network: 41 }, 'spec.network: must be an even number'],
  ['members apart from control planes', { etcdMembers: 5 }, 'must equal spec.controlPlanes'],
  [
    'a container runtime for simulated pods',
    { containerRuntimeEndpoints: ['unix:///run/containerd/containerd.sock'] },
    'spec.containerRuntimeEndpoints requires runtime cri',
  ],
  [
    'a container runtime that is no socket',
    { runtime: 'cri', containerRuntimeEndpoints: ['tcp://127.0.0.1:1'] },
    'must be a Unix socket',
  ],
  ['real containers for drills', { purpose: 'drills', runtime: 'cri' }, 'has simulated containers'],
  ['no members at all', { topology: 'external', etcdMembers: 0 }, 'the external topology requires'],
])('%s is refused with the field and the rule', (_claim, spec, message) => {
  expect(() => reparse(cluster(spec))).toThrow(message);
});

test.each([
  ['spec', 'spec.podCIDR: unknown field; remove it or check its spelling'],
  ['metadata', 'metadata.podCIDR: unknown field'],
])('a field of %s that nothing reads is refused', (place, message) => {
  const config = cluster() as unknown as Record<string, object>;
  const text = JSON.stringify({ ...config, [place]: { ...config[place], podCIDR: '10.0.0.0/8' } });
  expect(() => parseClusterConfig(text, 'cluster.yaml')).toThrow(`cluster.yaml: ${message}`);
});

test('an even number of members is worth a warning, an odd one is not', () => {
  expect(configWarnings(cluster({ controlPlanes: 4, etcdMembers: 4 }))).toEqual([
    '4 etcd members tolerate no more failures than 3: use an odd number',
  ]);
  expect(configWarnings(cluster())).toEqual([]);
});

test('the default cluster is three control planes with a member each, and one host of workers', () => {
  expect(planHosts(cluster()).map(({ name, etcd, nodes }) => [name, etcd?.address, nodes.length])).toEqual([
    ['cp-1', '127.40.0.1', 1],
    ['cp-2', '127.40.0.2', 1],
    ['cp-3', '127.40.0.3', 1],
    ['workers', undefined, 2],
  ]);
});

test('members of the external topology have hosts of their own, first', () => {
  const hosts = planHosts(cluster({ topology: 'external', workers: 0 }));
  expect(hosts.map(({ name }) => name)).toEqual(['etcd-1', 'etcd-2', 'etcd-3', 'cp-1', 'cp-2', 'cp-3']);
  expect(hosts[3]?.etcd).toBeUndefined();
});

test('no two hosts share an address, however many workers there are', () => {
  const plan = { network: 40 };
  const addresses = [
    controlPlaneAddress(plan, 1),
    ...Array.from({ length: 5000 }, (_, i) => workerAddress(plan, i + 1)),
  ];
  expect(new Set(addresses).size).toBe(addresses.length);
  expect(addresses.at(-1)).toBe('127.40.35.136');
});

test('a thousand nodes get smaller pod ranges', () => {
  expect([nodeCidrMaskSize(5), nodeCidrMaskSize(1000)]).toEqual([24, 26]);
  expect([isNetwork(16), isNetwork(254)]).toEqual([true, false]);
});
