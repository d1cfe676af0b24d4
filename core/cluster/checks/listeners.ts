import { inIpv4Range, LOOPBACK, parseIpv4Range, type Ipv4Range } from '../../base/bind-rules.ts';
import type { Pod, Service, Stored } from '../../client/index.ts';
import {
  hostRange,
  loadBalancerAddress,
  loadBalancerRange,
  podRange,
  serviceRange,
} from '../config/addresses.ts';
import type { ClusterConfig } from '../config/config.ts';
import { planHosts } from '../config/hosts.ts';
import { dnsHosts, PORTS } from '../manifests/control-plane.ts';
import type { ListeningSocket } from './listening.ts';

/** `127.20.0.1:6443` to the component that listens there. */
export const componentPlaces = (config: ClusterConfig): ReadonlyMap<string, string> => {
  const places = new Map<string, string>();
  const add = (component: string, address: string, ...ports: number[]): void =>
    ports.forEach((port) => places.set(`${address}:${port}`, component));
  add('load balancer', loadBalancerAddress({ network: config.spec.network }), PORTS.apiServer);
  if (config.spec.advertiseAddress !== undefined)
    add('load balancer', config.spec.advertiseAddress, PORTS.apiServer);
  for (const { address } of dnsHosts(config)) add('kube-dns', address, PORTS.dns, PORTS.dnsMetrics);
  for (const { role, address, etcd, nodes } of planHosts(config)) {
    if (etcd) add('etcd', etcd.address, PORTS.etcdClient, PORTS.etcdPeer, PORTS.etcdMetrics);
    if (role === 'control-plane') {
      add('kube-apiserver', address, PORTS.apiServer);
      add('kube-controller-manager', address, PORTS.controllerManager);
      add('kube-scheduler', address, PORTS.scheduler);
      add('cloud-controller-manager', address, PORTS.cloudControllerManager);
      // Of the kube-controller-manager that leads.
      add('metrics-server', address, PORTS.metricsServer);
    }
    for (const node of nodes) add('kubelet', node.address, PORTS.kubelet);
    add('kube-proxy', address, PORTS.proxyMetrics, PORTS.proxyHealth);
  }
  return places;
};

const rangeOf = (text: string): Ipv4Range => parseIpv4Range(text)!;

export interface ClusterNetworks {
  readonly all: readonly Ipv4Range[];
  /** Addresses that users' objects listen on: pods, services, load balancers. */
  readonly users: readonly Ipv4Range[];
}

export const networksOf = ({ spec }: ClusterConfig): ClusterNetworks => ({
  all: [hostRange, podRange, serviceRange].map((of) => rangeOf(of(spec))),
  users: [podRange, serviceRange, loadBalancerRange].map((of) => rangeOf(of(spec))),
});

export const isIn = (ranges: readonly Ipv4Range[], address: string): boolean =>
  ranges.some((range) => inIpv4Range(range, address));

const IPV6_LOOPBACK = '0000:0000:0000:0000:0000:0000:0000:0001';
export const isLoopbackAddress = (address: string): boolean =>
  inIpv4Range(LOOPBACK, address) || address === IPV6_LOOPBACK;

/** Ports that users' objects have on the addresses of nodes. */
export const userPorts = (
  services: readonly Stored<Service>[],
  pods: readonly Stored<Pod>[],
): ReadonlySet<number> =>
  new Set([
    ...services.flatMap(({ spec }) => [
      spec?.healthCheckNodePort ?? 0,
      ...(spec?.ports ?? []).flatMap(({ nodePort, port }) => [
        nodePort ?? 0,
        (spec?.externalIPs ?? []).length > 0 ? port : 0,
      ]),
    ]),
    ...pods.flatMap(({ spec }) =>
      [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].flatMap(({ ports }) =>
        (ports ?? []).map(({ hostPort, containerPort }) =>
          spec?.hostNetwork === true ? containerPort : (hostPort ?? 0),
        ),
      ),
    ),
  ]);

export interface SortedSockets {
  /** Of this cluster: in its networks, or of its processes. */
  readonly own: readonly ListeningSocket[];
  readonly beyondLoopback: readonly ListeningSocket[];
  /** On addresses of hosts, where neither a component nor a user's object is declared. */
  readonly unexpected: readonly ListeningSocket[];
  /** In the cluster's networks, of a process that is none of its. */
  readonly foreign: readonly ListeningSocket[];
}

export interface SortOptions {
  readonly config: ClusterConfig;
  /** Inodes of the cluster's processes; undefined: it cannot be told. */
  readonly inodes: ReadonlySet<string> | undefined;
  readonly userPorts: ReadonlySet<number>;
}

/** What listens for a cluster, and what of it should not. */
export const sortSockets = (
  sockets: readonly ListeningSocket[],
  { config, inodes, userPorts: ports }: SortOptions,
): SortedSockets => {
  const places = componentPlaces(config);
  const networks = networksOf(config);
  const own = sockets.filter(
    ({ address, inode }) => isIn(networks.all, address) || inodes?.has(inode) === true,
  );
  const inNetworks = own.filter(({ address }) => isIn(networks.all, address));
  return {
    own,
    // Services of real pods are served to this machine alone: kube-proxy looks at who connects.
    beyondLoopback: own.filter(
      ({ address, port }) =>
        !isLoopbackAddress(address) && !isIn(networks.users, address) && !places.has(`${address}:${port}`),
    ),
    unexpected: inNetworks.filter(
      ({ address, port }) =>
        !isIn(networks.users, address) && !places.has(`${address}:${port}`) && !ports.has(port),
    ),
    foreign: inodes ? inNetworks.filter(({ inode }) => !inodes.has(inode)) : [],
  };
};
