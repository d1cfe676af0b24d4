import { BlockList, isIPv4 } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { RoundRobin, SessionAffinity, type Target } from '../forwarding/index.ts';
import type { Binding } from './bindings.ts';
import type { Endpoint } from './endpoints.ts';
import type { NodeTable } from './node-table.ts';
import { selectEndpoints, type Origin } from './select-endpoints.ts';
import type { ServicePort, TrafficPolicy } from './service-port.ts';

const PREFIX_BITS_MAX = 32;

const sourceListOf = (ranges: readonly string[]): BlockList | undefined => {
  if (ranges.length === 0) return undefined;
  const list = new BlockList();
  for (const range of ranges) {
    // A range that says nothing lets no one in, and spoils no other range.
    const [address = '', bits = ''] = range.trim().split('/');
    const isPrefix = /^\d{1,2}$/.test(bits) && Number(bits) <= PREFIX_BITS_MAX;
    if (isIPv4(address) && isPrefix) list.addSubnet(address, Number(bits), 'ipv4');
  }
  return list;
};

/** Whom connections to one port of a service go to. */
export class PortTargets {
  #port: ServicePort;
  #endpoints: readonly Endpoint[] = [];
  #sources: BlockList | undefined;
  #affinity: SessionAffinity | undefined;
  /** What was selected for an origin; as many as there are nodes at most. */
  readonly #selected = new Map<string, { readonly targets: readonly Target[]; readonly robin: RoundRobin }>();
  readonly #nodes: NodeTable;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(
    port: ServicePort,
    options: { readonly nodes: NodeTable; readonly clock: Clock; readonly random: Random },
  ) {
    this.#port = port;
    this.#nodes = options.nodes;
    this.#clock = options.clock;
    this.#random = options.random;
    this.update(port, []);
  }

  get port(): ServicePort {
    return this.#port;
  }

  get endpoints(): readonly Endpoint[] {
    return this.#endpoints;
  }

  update(port: ServicePort, endpoints: readonly Endpoint[]): void {
    this.#port = port;
    this.#endpoints = endpoints;
    this.#sources = sourceListOf(port.loadBalancerSourceRanges);
    const { affinityTimeoutMs } = port;
    if (affinityTimeoutMs === undefined) this.#affinity = undefined;
    else if (this.#affinity) this.#affinity.timeoutMs = affinityTimeoutMs;
    else this.#affinity = new SessionAffinity({ clock: this.#clock, timeoutMs: affinityTimeoutMs });
    const names = new Set(endpoints.map(({ name }) => name));
    this.#affinity?.retain((name) => names.has(name));
    this.forgetSelections();
  }

  /** After nodes have changed: zones and ranges may be other ones. */
  forgetSelections(): void {
    this.#selected.clear();
  }

  pick(binding: Binding, client: string, tried: ReadonlySet<string>): Target | undefined {
    if (binding.scope === 'load-balancer' && this.#sources && !this.#sources.check(client, 'ipv4'))
      return undefined;
    const { targets, robin } = this.#selection(this.#policyOf(binding), this.#originOf(binding, client));
    return robin.pick(targets, client, tried, this.#affinity);
  }

  /** Endpoints on a node that load balancers may send connections to. */
  localCount(node: string): number {
    return selectEndpoints(this.#endpoints, 'Local', { node, zone: undefined }).length;
  }

  isTarget(name: string): boolean {
    return this.#endpoints.some((endpoint) => endpoint.name === name && endpoint.isServing);
  }

  #policyOf({ scope }: Binding): TrafficPolicy {
    return scope === 'cluster' ? this.#port.internalTrafficPolicy : this.#port.externalTrafficPolicy;
  }

  /**
   * For a node port it is the node's address that counts. From the outside a connection may come in at any node that
   * has an endpoint: that is what load balancers see to.
   */
  #originOf({ scope, node }: Binding, client: string): Origin {
    if (node !== undefined) return this.#nodes.originOfNode(node);
    return scope === 'cluster' ? this.#nodes.originOf(client) : { node: undefined, zone: undefined };
  }

  #selection(policy: TrafficPolicy, origin: Origin) {
    const key = `${policy}/${origin.node ?? ''}`;
    const known = this.#selected.get(key);
    if (known) return known;
    const targets = selectEndpoints(this.#endpoints, policy, origin);
    const made = { targets, robin: new RoundRobin(this.#random) };
    this.#selected.set(key, made);
    return made;
  }
}
