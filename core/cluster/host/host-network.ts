import {
  CLUSTER_DOMAIN,
  clusterNetworks,
  dnsServiceAddress,
  kubernetesServiceAddress,
  localPodRange,
  nodePodRange,
} from '../config/addresses.ts';
import { podBridge } from '../data-folder/network.ts';
import type { HostStart } from './messages.ts';

/** The network as the nodes of a host see it. */
export interface HostNetwork {
  readonly kubernetesService: string;
  readonly dnsAddress: string;
  readonly clusterDomain: string;
  /** Everything of the cluster. */
  readonly networks: readonly string[];
  /** Of the bridge that real pods of this machine are on. */
  readonly bridge: { readonly name: string; readonly range: string };
  /** Of the node with this index among those of the host. */
  podCIDR(index: number): string;
}

/** Interfaces have short names. */
const JOINED_BRIDGE = 'ph-node';

export const networkOf = (start: HostStart): HostNetwork => {
  const { joined } = start;
  if (joined)
    return {
      kubernetesService: joined.kubernetesService,
      dnsAddress: joined.dnsAddress,
      clusterDomain: joined.clusterDomain,
      networks: [joined.serviceRange, joined.podRange],
      bridge: { name: JOINED_BRIDGE, range: joined.podCIDR },
      podCIDR: () => joined.podCIDR,
    };
  return {
    kubernetesService: kubernetesServiceAddress(start),
    dnsAddress: dnsServiceAddress(start),
    clusterDomain: CLUSTER_DOMAIN,
    networks: clusterNetworks(start),
    bridge: { name: podBridge(start), range: localPodRange(start) },
    podCIDR: (index) =>
      start.runtime === 'cri'
        ? localPodRange(start)
        : nodePodRange(start, start.firstNodeIndex + index, start.nodeCount),
  };
};
