import { isIPv4 } from 'node:net';
import type { Node, Stored } from '../../client/index.ts';
import type { Origin } from './select-endpoints.ts';

const ZONE_LABEL = 'topology.kubernetes.io/zone';
const CONTROL_PLANE_LABEL = 'node-role.kubernetes.io/control-plane';
/** The cluster autoscaler is about to delete the node: no new traffic. */
const TO_BE_DELETED_TAINT = 'ToBeDeletedByClusterAutoscaler';

interface Range {
  readonly bits: number;
  readonly network: number;
}

const numberOf = (address: string): number =>
  address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);

const networkOf = (address: number, bits: number): number => Math.floor(address / 2 ** (32 - bits));

const parseRange = (cidr: string): Range | undefined => {
  const [address = '', bitsText = ''] = cidr.split('/');
  const bits = Number(bitsText);
  if (!isIPv4(address) || !(bits >= 0 && bits <= 32)) return undefined;
  return { bits, network: networkOf(numberOf(address), bits) };
};

interface Entry {
  readonly addresses: readonly string[];
  readonly ranges: readonly Range[];
  readonly zone: string | undefined;
  readonly isEligible: boolean;
  readonly isControlPlane: boolean;
}

const entryOf = ({ metadata, spec, status }: Stored<Node>): Entry => ({
  addresses: (status?.addresses ?? [])
    .filter(({ type, address }) => type === 'InternalIP' && isIPv4(address))
    .map(({ address }) => address),
  ranges: [...new Set([...(spec?.podCIDRs ?? []), ...(spec?.podCIDR ? [spec.podCIDR] : [])])]
    .map(parseRange)
    .filter((range) => range !== undefined),
  zone: metadata.labels?.[ZONE_LABEL],
  isControlPlane: metadata.labels?.[CONTROL_PLANE_LABEL] !== undefined,
  isEligible:
    metadata.deletionTimestamp === undefined &&
    !(spec?.taints ?? []).some(({ key }) => key === TO_BE_DELETED_TAINT),
});

const sameEntry = (a: Entry | undefined, b: Entry): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Who a client is: nodes by their addresses, pods by the ranges of their nodes. */
export class NodeTable {
  readonly #entries = new Map<string, Entry>();
  readonly #byAddress = new Map<string, string>();
  /** By bits of the mask, then by network: a cluster has one or two sizes. */
  readonly #byRange = new Map<number, Map<number, string>>();

  /** True when anything changed that a proxy cares about. */
  set(node: Stored<Node>): boolean {
    const { name } = node.metadata;
    const entry = entryOf(node);
    if (sameEntry(this.#entries.get(name), entry)) return false;
    this.delete(name);
    this.#entries.set(name, entry);
    for (const address of entry.addresses) this.#byAddress.set(address, name);
    for (const { bits, network } of entry.ranges) {
      const networks = this.#byRange.get(bits) ?? new Map<number, string>();
      networks.set(network, name);
      this.#byRange.set(bits, networks);
    }
    return true;
  }

  delete(name: string): boolean {
    const entry = this.#entries.get(name);
    if (!entry) return false;
    this.#entries.delete(name);
    // What another node has taken over meanwhile stays with it.
    for (const address of entry.addresses)
      if (this.#byAddress.get(address) === name) this.#byAddress.delete(address);
    for (const { bits, network } of entry.ranges)
      if (this.#byRange.get(bits)?.get(network) === name) this.#byRange.get(bits)!.delete(network);
    return true;
  }

  /** Whether it is the address of a node. */
  hasAddress(address: string): boolean {
    return this.#byAddress.has(address);
  }

  /** Whether a control plane has this address, also where a worker claims the same one. */
  isControlPlane(address: string): boolean {
    if (!this.#byAddress.has(address)) return false;
    for (const entry of this.#entries.values())
      if (entry.isControlPlane && entry.addresses.includes(address)) return true;
    return false;
  }

  addressesOf(name: string): readonly string[] {
    return this.#entries.get(name)?.addresses ?? [];
  }

  /** A node that is not known yet is taken for a good one, as upstream does at the start. */
  isEligible(name: string): boolean {
    return this.#entries.get(name)?.isEligible ?? true;
  }

  originOfNode(name: string): Origin {
    return { node: name, zone: this.#entries.get(name)?.zone };
  }

  originOf(clientAddress: string): Origin {
    const name = this.#nodeOf(clientAddress);
    return name === undefined ? { node: undefined, zone: undefined } : this.originOfNode(name);
  }

  #nodeOf(address: string): string | undefined {
    const known = this.#byAddress.get(address);
    if (known !== undefined || !isIPv4(address)) return known;
    const number = numberOf(address);
    for (const [bits, networks] of this.#byRange) {
      const name = networks.get(networkOf(number, bits));
      if (name !== undefined) return name;
    }
    return undefined;
  }
}
