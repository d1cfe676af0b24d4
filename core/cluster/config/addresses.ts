import { assert } from '../../base/assert.ts';

/**
 * Where things are on the loopback network. A cluster takes two of the second octets, `network` (even) and the one
 * above: hosts, the load balancer and services on the first, pods on the second, so that clusters never collide.
 */
export interface AddressPlan {
  readonly network: number;
}

/**
 * Real pods have networks of their own, in which 127.0.0.0/8 is the pod itself. Their addresses and those of services
 * are in 10.0.0.0/8 then, with the same second octets; hosts stay on loopback.
 */
export interface PodAddressPlan extends AddressPlan {
  readonly runtime: 'simulated' | 'cri';
}

const firstOctet = ({ runtime }: PodAddressPlan): number => (runtime === 'cri' ? 10 : 127);

/** The domain of the cluster's names. Pods and certificates have it. */
export const CLUSTER_DOMAIN = 'cluster.local';

export const NETWORK_MIN = 16;
export const NETWORK_MAX = 252;

const CONTROL_PLANE_BASE = 0;
const ETCD_BASE = 10;
const LOAD_BALANCER = 100;
/** Workers have a block of their own, so that there may be thousands. */
const WORKER_BLOCK = 16;
const WORKERS_MAX = 48 * 256;

export const isNetwork = (network: number): boolean =>
  Number.isInteger(network) && network >= NETWORK_MIN && network <= NETWORK_MAX && network % 2 === 0;

const address = ({ network }: AddressPlan, offset: number): string =>
  `127.${network}.${Math.floor(offset / 256)}.${offset % 256}`;

/** `ordinal` counts from 1, as the names of hosts do. */
export const controlPlaneAddress = (plan: AddressPlan, ordinal: number): string =>
  address(plan, CONTROL_PLANE_BASE + ordinal);

export const etcdAddress = (plan: AddressPlan, ordinal: number): string => address(plan, ETCD_BASE + ordinal);

export const loadBalancerAddress = (plan: AddressPlan): string => address(plan, LOAD_BALANCER);

export const workerAddress = (plan: AddressPlan, ordinal: number): string => {
  assert(ordinal >= 1 && ordinal <= WORKERS_MAX, `at most ${WORKERS_MAX} workers are supported`);
  return address(plan, WORKER_BLOCK * 256 + ordinal);
};

/** `127.N.64.0/18`, whose first address is the `kubernetes` service. */
export const serviceRange = (plan: PodAddressPlan): string => `${firstOctet(plan)}.${plan.network}.64.0/18`;
export const kubernetesServiceAddress = (plan: PodAddressPlan): string =>
  `${firstOctet(plan)}.${plan.network}.64.1`;
export const dnsServiceAddress = (plan: PodAddressPlan): string =>
  `${firstOctet(plan)}.${plan.network}.64.10`;

/** Addresses that services of type LoadBalancer are given by the loopback cloud. */
export const loadBalancerRange = ({ network }: AddressPlan): string => `127.${network}.8.0/21`;

/** The first of the two networks: hosts and nodes are in it, and so are services and load balancers. */
export const hostRange = ({ network }: AddressPlan): string => `127.${network}.0.0/16`;

export const podRange = (plan: PodAddressPlan): string => `${firstOctet(plan)}.${plan.network + 1}.0.0/16`;

/**
 * Real pods of the machine of the cluster are on one bridge with the lower half of the range. Machines that join are
 * given parts of the upper half, so that routes tell them apart.
 */
export const localPodRange = (plan: PodAddressPlan): string =>
  plan.runtime === 'cri' ? `10.${plan.network + 1}.0.0/17` : podRange(plan);

/** From which nodes are given their parts by the controller-manager. */
export const allocatedPodRange = (plan: PodAddressPlan): string =>
  plan.runtime === 'cri' ? `10.${plan.network + 1}.128.0/17` : podRange(plan);

/** Everything of a cluster: hosts, services and load balancers, and pods. */
export const clusterNetworks = (plan: PodAddressPlan): readonly string[] => [
  `127.${plan.network}.0.0/16`,
  podRange(plan),
];

/** Upstream's default for as many nodes as it has room for; more nodes get smaller ranges. */
export const nodeCidrMaskSize = (nodeCount: number): number =>
  [24, 26, 28].find((bits) => nodeCount <= 2 ** (bits - 16)) ?? 29;

/** The pod range of the node with this index, counted from 0 over control planes and then workers. */
export const nodePodRange = (plan: PodAddressPlan, index: number, nodeCount: number): string => {
  const bits = nodeCidrMaskSize(nodeCount);
  assert(index < 2 ** (bits - 16), 'there is a range of addresses for every node');
  const offset = index * 2 ** (32 - bits);
  return `${firstOctet(plan)}.${plan.network + 1}.${Math.floor(offset / 256)}.${offset % 256}/${bits}`;
};
