import { expect, test } from 'vitest';
import { silentLog } from '../base/log.ts';
import { ENDPOINT_SLICE, NAMESPACE, NETWORK_POLICY, POD, SERVICE } from '../client/index.ts';
import { FakeApi } from '../client/testing/index.ts';
import type { Connecting } from '../network-policy/index.ts';
import { PolicyAgent } from './policy-agent.ts';

const NODE = '10.0.0.1';
const WEB = '10.1.0.1';
const CLIENT = '10.1.0.2';
const DNS_HOST = '10.0.0.9';

const seedPod = (
  api: FakeApi,
  name: string,
  ip: string,
  rest: { hostNetwork?: boolean; namespace?: string } = {},
) =>
  api.seed(POD, {
    metadata: { name, namespace: rest.namespace ?? 'default', labels: { app: name } },
    spec: {
      containers: [{ name: 'app', image: 'x', ports: [{ name: 'http', containerPort: 8080 }] }],
      ...(rest.hostNetwork && { hostNetwork: true }),
    },
    status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], hostIP: NODE },
  });

const seedService = (
  api: FakeApi,
  name: string,
  namespace: string,
  clusterIP: string,
  port: number,
  target: number,
  protocol: string,
  pod: string,
  ip: string,
) => {
  api.seed(SERVICE, {
    metadata: { name, namespace },
    spec: { clusterIP, clusterIPs: [clusterIP], ports: [{ name: 'p', port, protocol }] },
  });
  api.seed(ENDPOINT_SLICE, {
    metadata: { name: `${name}-1`, namespace, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [ip], targetRef: { kind: 'Pod', namespace, name: pod } }],
    ports: [{ name: 'p', port: target, protocol }],
  });
};

const start = () => {
  const api = new FakeApi();
  api.seed(NAMESPACE, { metadata: { name: 'default' } });
  api.seed(NAMESPACE, {
    metadata: { name: 'kube-system', labels: { 'kubernetes.io/metadata.name': 'kube-system' } },
  });
  seedPod(api, 'web', WEB);
  seedPod(api, 'client', CLIENT);
  seedPod(api, 'kube-dns', DNS_HOST, { hostNetwork: true, namespace: 'kube-system' });
  seedService(api, 'web', 'default', '10.3.0.5', 80, 8080, 'TCP', 'web', WEB);
  seedService(api, 'kube-dns', 'kube-system', '10.3.0.10', 53, 10_053, 'UDP', 'kube-dns', DNS_HOST);
  const { clock, random } = api;
  let connects = 0;
  const agent = new PolicyAgent({
    clock,
    random,
    log: silentLog,
    connect: () => {
      connects += 1;
      return Promise.resolve(Object.assign(api.client(), { dispose: () => undefined }));
    },
  });
  const ask = async (parts: Partial<Connecting>) => {
    const connection: Connecting = {
      kind: 'accept',
      from: CLIENT,
      to: WEB,
      protocol: 'TCP',
      port: 8080,
      ...parts,
    };
    const judged = agent.judge(connection);
    await api.settle();
    return judged;
  };
  return { api, agent, ask, connects: () => connects };
};

const policy = (api: FakeApi, name: string, spec: object, namespace = 'default') =>
  api.seed(NETWORK_POLICY, { metadata: { name, namespace }, spec: spec as never });

test('nothing is watched before it is started, and without policies nothing is policed', async () => {
  const { api, agent, ask, connects } = start();
  expect([connects(), agent.isPoliced]).toEqual([0, true]);
  const changes: boolean[] = [];
  agent.onChange(() => changes.push(agent.isPoliced));
  agent.start();
  await api.settle();
  expect([connects(), agent.isPoliced, changes.at(-1), await ask({})]).toEqual([
    1,
    false,
    false,
    { isAllowed: true },
  ]);
  policy(api, 'deny', { podSelector: {}, policyTypes: ['Ingress'] });
  await api.settle();
  expect([agent.isPoliced, changes.at(-1)]).toEqual([true, true]);
  api.remove(NETWORK_POLICY, 'deny');
  await api.settle();
  expect([agent.isPoliced, await ask({})]).toEqual([false, { isAllowed: true }]);
  agent.dispose();
});

test('a pod is judged by the address that connects, and its node is always let in', async () => {
  const { api, agent, ask } = start();
  policy(api, 'web', {
    podSelector: { matchLabels: { app: 'web' } },
    policyTypes: ['Ingress'],
    ingress: [{ from: [{ podSelector: { matchLabels: { app: 'client' } } }], ports: [{ port: 'http' }] }],
  });
  agent.start();
  await api.settle();
  expect([
    await ask({}),
    await ask({ from: '127.0.0.1' }),
    await ask({ from: NODE }),
    await ask({ port: 9 }),
  ]).toEqual([
    { isAllowed: true },
    { isAllowed: false, reason: 'Ingress is denied by NetworkPolicy default/web' },
    { isAllowed: true },
    { isAllowed: false, reason: 'Ingress is denied by NetworkPolicy default/web' },
  ]);
  agent.dispose();
});

test('egress through a Service is judged by its endpoints, and the pod that is reached judges again', async () => {
  const { api, agent, ask } = start();
  policy(api, 'client', {
    podSelector: { matchLabels: { app: 'client' } },
    policyTypes: ['Egress'],
    egress: [
      { to: [{ podSelector: { matchLabels: { app: 'web' } } }], ports: [{ port: 8080 }] },
      {
        to: [
          {
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
            podSelector: { matchLabels: { app: 'kube-dns' } },
          },
        ],
        ports: [{ port: 53, protocol: 'UDP' }],
      },
    ],
  });
  agent.start();
  await api.settle();
  const connect = (to: string, port: number, protocol: 'TCP' | 'UDP' = 'TCP') =>
    ask({ kind: 'connect', to, port, protocol });
  expect([
    (await connect('10.3.0.5', 80)).isAllowed,
    (await connect(WEB, 8080)).isAllowed,
    (await connect(WEB, 9090)).isAllowed,
    // In the network of its host, on another port than its Service: still the cluster's DNS.
    (await connect('10.3.0.10', 53, 'UDP')).isAllowed,
    (await connect('10.3.0.10', 53)).isAllowed,
    await connect('10.0.0.5', 6443),
    (await ask({ port: 9090 })).reason,
  ]).toEqual([
    true,
    true,
    false,
    true,
    false,
    { isAllowed: false, reason: 'Egress is denied by NetworkPolicy default/client' },
    'Egress is denied by NetworkPolicy default/client',
  ]);
  agent.dispose();
});

test('connections are denied while policies cannot be known', async () => {
  const api = new FakeApi();
  const { clock, random } = api;
  const agent = new PolicyAgent({
    clock,
    random,
    log: silentLog,
    connect: () => Promise.reject(new Error('no kubeconfig')),
  });
  const judged = agent.judge({ kind: 'accept', from: CLIENT, to: WEB, protocol: 'TCP', port: 80 });
  await api.settle();
  expect(await judged).toEqual({ isAllowed: false, reason: 'NetworkPolicies are not known yet' });
  agent.dispose();
});
