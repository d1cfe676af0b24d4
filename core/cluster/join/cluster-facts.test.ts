import { expect, test } from 'vitest';
import { defaultSpec } from '../config/config.ts';
import { joinConfigMaps } from '../bootstrap-tokens/join-settings.ts';
import { readFacts } from './cluster-facts.ts';

test('a joining machine reads the same cluster-info that the cluster publishes', () => {
  const config = {
    apiVersion: 'pilothouse.dev/v1' as const,
    kind: 'Cluster' as const,
    metadata: { name: 'desk' },
    spec: { ...defaultSpec(40), runtime: 'cri' as const },
  };
  const data = Object.assign({}, ...joinConfigMaps(config, 'PEM').map((map) => map.data)) as Record<
    string,
    string
  >;
  expect(readFacts(data['ClusterConfiguration']!, data['kubelet']!)).toEqual({
    kubernetesVersion: 'v1.36.0',
    podRange: '10.41.0.0/16',
    serviceRange: '10.40.64.0/18',
    kubernetesService: '10.40.64.1',
    clusterDomain: 'cluster.local',
    dnsServiceAddress: '10.40.64.10',
  });
});

test('a cluster without ranges of its own is refused with the field', () => {
  expect(() => readFacts('networking: {serviceSubnet: 10.96.0.0/12}', 'clusterDNS: [10.96.0.10]')).toThrow(
    'networking.podSubnet is not an IPv4 range',
  );
  expect(() =>
    readFacts('networking: {serviceSubnet: 10.96.0.0/12, podSubnet: 10.244.0.0/16}', 'clusterDNS: []'),
  ).toThrow('names no clusterDNS');
});
