import { expect, test } from 'vitest';
import type { Node, Stored } from '../../client/index.ts';
import { routesOf } from './pod-routes.ts';

const node = (name: string, address: string, podCIDR?: string): Stored<Node> => ({
  metadata: { name, uid: name, resourceVersion: '1' },
  spec: podCIDR === undefined ? {} : { podCIDR },
  status: { addresses: [{ type: 'InternalIP', address }] },
});

const NODES = [
  node('worker-1', '127.40.16.1', '10.41.0.0/17'),
  node('worker-2', '127.40.16.2', '10.41.0.0/17'),
  node('shed', '192.0.2.2', '10.41.128.0/24'),
  node('attic', '192.0.2.3', '10.41.129.0/24'),
  node('new', '192.0.2.4'),
  node('greedy', '192.0.2.5', '0.0.0.0/0'),
];
const podRange = '10.41.0.0/16';

test('the machine of the cluster reaches pods of machines that have joined', () => {
  const plan = { own: ['worker-1', 'worker-2'], gateway: undefined, podRange };
  expect([...routesOf(NODES, plan)]).toEqual([
    ['10.41.128.0/24', '192.0.2.2'],
    ['10.41.129.0/24', '192.0.2.3'],
  ]);
});

test('a machine that has joined reaches the others, and nodes on loopback by the address of the cluster', () => {
  const plan = { own: ['shed'], gateway: '192.0.2.1', podRange };
  expect([...routesOf(NODES, plan)]).toEqual([
    ['10.41.0.0/17', '192.0.2.1'],
    ['10.41.129.0/24', '192.0.2.3'],
  ]);
});
