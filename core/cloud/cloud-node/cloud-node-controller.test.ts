import { expect, test } from 'vitest';
import { NODE, type Node } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { startOnFake } from '../testing/start-on-fake.ts';
import { cloudNodeController, labelsToReconcile, UNINITIALIZED_TAINT } from './cloud-node-controller.ts';

const fresh: Node = {
  metadata: {
    name: 'worker-2',
    labels: { 'kubernetes.io/os': 'linux' },
    annotations: { 'alpha.kubernetes.io/provided-node-ip': '127.20.16.2' },
  },
  spec: {
    taints: [
      { key: UNINITIALIZED_TAINT, value: 'true', effect: 'NoSchedule' },
      { key: 'dedicated', effect: 'NoSchedule' },
    ],
  },
};

test('a new node gets what the cloud knows, and loses its taint', async () => {
  const api = new FakeApi();
  const running = await startOnFake(api, [cloudNodeController]);
  api.seed(NODE, fresh);
  await api.settle();
  const node = api.get(NODE, 'worker-2');
  expect({ labels: node.metadata.labels, spec: node.spec, addresses: node.status?.addresses }).toMatchObject({
    labels: {
      'kubernetes.io/os': 'linux',
      'node.kubernetes.io/instance-type': 'loopback.standard',
      'beta.kubernetes.io/instance-type': 'loopback.standard',
      'topology.kubernetes.io/zone': 'zone-b',
      'topology.kubernetes.io/region': 'loopback',
    },
    spec: { providerID: 'loopback:///zone-b/worker-2', taints: [{ key: 'dedicated', effect: 'NoSchedule' }] },
    addresses: [
      { type: 'InternalIP', address: '127.20.16.2' },
      { type: 'Hostname', address: 'worker-2' },
    ],
  });
  expect(running.events).toEqual(['Normal Synced worker-2: Node synced successfully']);
  await running.stop();
});

test('a node that is set up is written to only when its addresses change', async () => {
  const api = new FakeApi();
  api.seed(NODE, fresh);
  const running = await startOnFake(api, [cloudNodeController]);
  api.forgetRequests();
  await api.advance(300_000);
  expect(api.writes()).toEqual([]);
  api.edit(NODE, 'worker-2', (node) => {
    node.metadata.annotations!['alpha.kubernetes.io/provided-node-ip'] = '127.20.16.9';
  });
  await api.advance(300_000);
  expect(api.get(NODE, 'worker-2').status?.addresses?.[0]).toEqual({
    type: 'InternalIP',
    address: '127.20.16.9',
  });
  await running.stop();
});

test('a stable label follows its older one', () => {
  expect(
    labelsToReconcile({
      'failure-domain.beta.kubernetes.io/zone': 'a',
      'topology.kubernetes.io/zone': 'b',
      'beta.kubernetes.io/instance-type': 'x',
      'node.kubernetes.io/instance-type': 'x',
    }),
  ).toEqual({ 'topology.kubernetes.io/zone': 'a' });
});
