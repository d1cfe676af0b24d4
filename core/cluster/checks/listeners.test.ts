import { expect, test } from 'vitest';
import type { Pod, Service, Stored } from '../../client/index.ts';
import { CLUSTER_API_VERSION, defaultSpec, type ClusterConfig } from '../config/config.ts';
import { componentPlaces, sortSockets, userPorts } from './listeners.ts';
import type { ListeningSocket } from './listening.ts';

const config: ClusterConfig = {
  apiVersion: CLUSTER_API_VERSION,
  kind: 'Cluster',
  metadata: { name: 'desk' },
  spec: defaultSpec(20),
};

const socket = (place: string, inode: string): ListeningSocket => {
  const at = place.lastIndexOf(':');
  return { protocol: 'TCP', address: place.slice(0, at), port: Number(place.slice(at + 1)), inode };
};

test('sockets are sorted into expected ones, unexpected ones, foreign ones and those beyond loopback', () => {
  const sockets = [
    socket('127.20.0.1:6443', 'ours'),
    socket('127.20.0.1:2379', 'ours'),
    socket('127.20.0.1:4999', 'ours'),
    socket('127.20.16.1:30080', 'ours'),
    socket('127.21.3.4:8080', 'ours'),
    socket('127.20.64.1:443', 'ours'),
    socket('127.20.0.2:2379', 'stranger'),
    socket('127.0.0.1:5432', 'stranger'),
    socket('0.0.0.0:8080', 'ours'),
    socket('0.0.0.0:22', 'stranger'),
    socket('0000:0000:0000:0000:0000:0000:0000:0001:99', 'ours'),
  ];
  const sorted = sortSockets(sockets, {
    config,
    inodes: new Set(['ours']),
    userPorts: new Set([30_080]),
  });
  const names = (list: readonly ListeningSocket[]) => list.map(({ address, port }) => `${address}:${port}`);
  expect({
    own: sorted.own.length,
    beyondLoopback: names(sorted.beyondLoopback),
    unexpected: names(sorted.unexpected),
    foreign: names(sorted.foreign),
  }).toEqual({
    own: 9,
    beyondLoopback: ['0.0.0.0:8080'],
    unexpected: ['127.20.0.1:4999'],
    foreign: ['127.20.0.2:2379'],
  });
});

test('nothing is called foreign where processes cannot be distinguished', () => {
  const sorted = sortSockets([socket('127.20.0.2:2379', 'x')], {
    config,
    inodes: undefined,
    userPorts: new Set(),
  });
  expect([sorted.own.length, sorted.foreign]).toEqual([1, []]);
});

test('every component of a default cluster has its places', () => {
  const places = componentPlaces(config);
  expect([...new Set(places.values())].sort()).toEqual([
    'cloud-controller-manager',
    'etcd',
    'kube-apiserver',
    'kube-controller-manager',
    'kube-dns',
    'kube-proxy',
    'kube-scheduler',
    'kubelet',
    'load balancer',
    'metrics-server',
  ]);
  expect(places.get('127.20.0.100:6443')).toBe('load balancer');
});

test('node ports, health checks, host ports and ports in the network of a host are users’ ports', () => {
  const service = {
    metadata: { name: 's' },
    spec: { healthCheckNodePort: 31_000, ports: [{ port: 80, nodePort: 30_080 }] },
  } as unknown as Stored<Service>;
  const pod = (hostNetwork: boolean) =>
    ({
      metadata: { name: 'p' },
      spec: { hostNetwork, containers: [{ name: 'c', ports: [{ containerPort: 9000, hostPort: 9001 }] }] },
    }) as unknown as Stored<Pod>;
  expect([...userPorts([service], [pod(false), pod(true)])].sort((a, b) => a - b)).toEqual([
    0, 9000, 9001, 30_080, 31_000,
  ]);
});
