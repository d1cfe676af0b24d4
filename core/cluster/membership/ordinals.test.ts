import { expect, test } from 'vitest';
import {
  defaultSpec,
  formatClusterConfig,
  parseClusterConfig,
  type ClusterConfig,
} from '../config/config.ts';
import { planHosts } from '../config/hosts.ts';
import { withNextMember, withoutMember } from './ordinals.ts';

const cluster = (spec: Partial<ClusterConfig['spec']> = {}): ClusterConfig => ({
  apiVersion: 'pilothouse.dev/v1',
  kind: 'Cluster',
  metadata: { name: 'desk' },
  spec: { ...defaultSpec(40), ...spec },
});

const namesOf = (config: ClusterConfig): string =>
  planHosts(parseClusterConfig(formatClusterConfig(config), 'cluster.yaml'))
    .map(({ name }) => name)
    .join(' ');

test('one control plane grows to three and shrinks from the middle', () => {
  const one = cluster({ controlPlanes: 1, etcdMembers: 1 });
  const three = withNextMember(withNextMember(one).config).config;
  const two = withoutMember(three, 'cp-2');
  expect([three, two, withNextMember(two).config].map(namesOf)).toEqual([
    'cp-1 cp-2 cp-3 workers',
    'cp-1 cp-3 workers',
    'cp-1 cp-2 cp-3 workers',
  ]);
  expect(withNextMember(two).config).toEqual(three);
});

test('in the external topology members come and go, control planes stay', () => {
  const external = cluster({ topology: 'external', controlPlanes: 2 });
  expect(namesOf(withoutMember(external, 'etcd-1'))).toBe('etcd-2 etcd-3 cp-1 cp-2 workers');
  expect(withNextMember(external).host).toMatchObject({ name: 'etcd-4', role: 'etcd' });
});

test('there is an end to growing', () => {
  expect(() => withNextMember(cluster({ controlPlanes: 7, etcdMembers: 7 }))).toThrow(
    'already has 7 members',
  );
});
