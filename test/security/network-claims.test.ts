import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { V1ContainerPort, V1ServiceSpec } from '../../core/api/schema/index.ts';
import { EVENT, NAMESPACE, POD, SERVICE, type OwnedClient } from '../../core/client/index.ts';
import { listeningSockets } from '../../core/cluster/checks/listening.ts';
import { adminClient } from '../support/cluster.ts';
import { until } from '../support/until.ts';
import { stateOf } from './default-cluster.ts';

const ATTACK_NAMESPACE = 'attack-claims';
/** No component and no other test has it. */
const PORT = 4_997;

let client: OwnedClient;
let [controlPlane, worker, network] = ['', '', ''];

beforeAll(async () => {
  const data = inject('attackedData');
  client = await adminClient(data);
  const { hosts } = await stateOf(data);
  controlPlane = hosts.find(({ name }) => name === 'cp-1')!.address;
  network = controlPlane.split('.').slice(0, 2).join('.');
  worker = `${network}.16.1`;
  await client.resource(NAMESPACE).create({ metadata: { name: ATTACK_NAMESPACE } });
});

afterAll(async () => {
  await client.resource(NAMESPACE).delete(ATTACK_NAMESPACE);
  client.dispose();
});

const places = async (): Promise<readonly string[]> =>
  ((await listeningSockets()) ?? []).map(({ address, port }) => `${address}:${port}`);

const eventOn = (name: string, reason: string): Promise<string> =>
  until(`event ${reason} on ${name}`, async () => {
    const { items } = await client.resource(EVENT, ATTACK_NAMESPACE).list();
    return items.find((event) => event.reason === reason && event.involvedObject.name === name)?.message;
  });

const createService = (name: string, spec: V1ServiceSpec) =>
  client.resource(SERVICE, ATTACK_NAMESPACE).create({ metadata: { name }, spec });

test.each<[string, () => string, number]>([
  ['kube-apiserver', () => controlPlane, 6443],
  ['etcd', () => controlPlane, 2379],
  ['a free port of a control plane', () => controlPlane, PORT],
  ['the load balancer of the API servers', () => `${network}.0.100`, 6443],
  ['the kubernetes service', () => `${network}.64.1`, 443],
  ['the kubelet of a worker', () => worker, 10_250],
  ['another cluster', () => `127.${(Number(network.split('.')[1]) + 2) % 256}.64.1`, PORT],
  ['an address beyond loopback', () => '192.0.2.1', PORT],
])('externalIPs cannot claim the place of %s', async (what, address, port) => {
  const name = `claim-${what.replaceAll(' ', '-')}`.toLowerCase();
  const before = (await places()).filter((place) => place === `${address()}:${port}`);
  await createService(name, { externalIPs: [address()], ports: [{ port, protocol: 'TCP' }] });
  expect(await eventOn(name, 'AddressNotAllowed')).toContain(
    `externalIPs ${address()}:${port}/TCP is not served`,
  );
  expect((await places()).filter((place) => place === `${address()}:${port}`)).toEqual(before);
});

test.each(['127.0.0.1', '0.0.0.0'])('externalIPs of %s are refused by the API server', async (address) => {
  const attempt = createService('claim-machine', {
    externalIPs: [address],
    ports: [{ port: PORT, protocol: 'TCP' }],
  });
  await expect(attempt).rejects.toMatchObject({ reason: 'Invalid' });
});

test('externalIPs in the range of load balancers are served', async () => {
  const address = `${network}.15.200`;
  await createService('claim-allowed', { externalIPs: [address], ports: [{ port: PORT, protocol: 'TCP' }] });
  await until('the listener', async () => (await places()).includes(`${address}:${PORT}`));
});

test('loadBalancerIP cannot claim an address outside the range of load balancers', async () => {
  await createService('claim-lb', {
    type: 'LoadBalancer',
    loadBalancerIP: controlPlane,
    ports: [{ port: PORT, protocol: 'TCP' }],
  });
  expect(await eventOn('claim-lb', 'SyncLoadBalancerFailed')).toContain(controlPlane);
  expect(await places()).not.toContain(`${controlPlane}:${PORT}`);
});

test('a node port cannot be a port of a component', async () => {
  const attempt = createService('claim-node-port', {
    type: 'NodePort',
    ports: [{ port: PORT, nodePort: 10_250, protocol: 'TCP' }],
  });
  await expect(attempt).rejects.toMatchObject({ reason: 'Invalid' });
});

const runOnControlPlane = (name: string, ports: V1ContainerPort[], hostNetwork = false) =>
  client.resource(POD, ATTACK_NAMESPACE).create({
    metadata: { name },
    spec: {
      nodeName: 'cp-1',
      hostNetwork,
      containers: [{ name: 'app', image: 'attack', ports }],
      terminationGracePeriodSeconds: 0,
    },
  });

test.each<[string, () => V1ContainerPort, string]>([
  ['6443', () => ({ containerPort: 80, hostPort: 6443 }), 'reserved for kube-apiserver'],
  ['2379', () => ({ containerPort: 80, hostPort: 2379, hostIP: controlPlane }), 'reserved for etcd'],
  ['10250', () => ({ containerPort: 80, hostPort: 10_250, hostIP: '0.0.0.0' }), 'reserved for kubelet'],
  ['machine', () => ({ containerPort: 80, hostPort: PORT, hostIP: '127.0.0.1' }), 'is not allowed'],
  ['other-host', () => ({ containerPort: 80, hostPort: PORT, hostIP: `${network}.0.2` }), 'is not allowed'],
])('hostPort cannot claim %s', async (name, port, why) => {
  const before = await places();
  await runOnControlPlane(`host-port-${name}`, [port()]);
  expect(await eventOn(`host-port-${name}`, 'Failed')).toContain(why);
  expect((await places()).filter((place) => place.endsWith(`:${PORT}`))).toEqual(
    before.filter((place) => place.endsWith(`:${PORT}`)),
  );
});

test('a pod in the network of a control plane cannot claim the API server’s port', async () => {
  await runOnControlPlane('host-network', [{ containerPort: 6443, hostPort: 6443 }], true);
  expect(await eventOn('host-network', 'Failed')).toContain('reserved for kube-apiserver');
});
