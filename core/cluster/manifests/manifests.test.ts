import { parse } from 'yaml';
import { expect, test } from 'vitest';
import { readApiServerConfig } from '../../apiserver/config/config.ts';
import { readMemberConfig } from '../../etcd/config/config.ts';
import { defaultSpec, type ClusterConfig } from '../config/config.ts';
import { planHosts } from '../config/hosts.ts';
import { initialMembers, manifestsOf } from './control-plane.ts';

const config: ClusterConfig = {
  apiVersion: 'pilothouse.dev/v1',
  kind: 'Cluster',
  metadata: { name: 'desk' },
  spec: defaultSpec(40),
};

const argsOf = (hostName: string, component: string): string[] => {
  const host = planHosts(config).find(({ name }) => name === hostName)!;
  const manifests = manifestsOf({
    config,
    host,
    version: 'v1.36.0',
    etcd: { members: initialMembers(config), state: 'new' },
  });
  const pod = parse(manifests.get(`${component}.yaml`)!) as {
    spec: { containers: [{ command: string[] }] };
  };
  return pod.spec.containers[0].command.slice(1);
};

test("the API server's manifest is understood by the API server", () => {
  expect(readApiServerConfig(argsOf('cp-2', 'kube-apiserver'))).toMatchObject({
    bindAddress: '127.40.0.2',
    serviceRanges: ['127.40.64.0/18'],
    etcd: { servers: [1, 2, 3].map((n) => `https://127.40.0.${n}:2379`) },
  });
});

test("a member's manifest is understood by the member", () => {
  expect(readMemberConfig(argsOf('cp-3', 'etcd'))).toMatchObject({
    name: 'cp-3',
    initialCluster: [1, 2, 3].map((n) => `cp-${n}=https://127.40.0.${n}:2380`).join(','),
  });
});

test('the host of the workers runs the proxy of services and no control plane', () => {
  const host = planHosts(config).find(({ role }) => role === 'workers')!;
  const files = manifestsOf({ config, host, version: 'v1.36.0', etcd: { members: [], state: 'new' } });
  expect([...files.keys()]).toEqual(['kube-proxy.yaml']);
  expect(files.get('kube-proxy.yaml')).toContain('tier: node');
});
