import type { Ipv4Range } from '../../base/bind-rules.ts';
import type { Clock } from '../../base/clock.ts';
import { ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { objectKey } from '../../api/meta/index.ts';
import type { V1LoadBalancerStatus, V1PortStatus } from '../../api/schema/index.ts';
import {
  ENDPOINT_SLICE,
  NODE,
  SERVICE,
  type EndpointSlice,
  type Informer,
  type InformerFactory,
  type Node,
  type Service,
  type Stored,
} from '../../client/index.ts';
import {
  ConnectionBudget,
  Listeners,
  placeKey,
  TcpForwarder,
  UdpForwarder,
  type Place,
} from '../../proxy/forwarding/index.ts';
import { endpointsOf, servedEndpoints, serviceOf } from '../../proxy/model/endpoints.ts';
import { NodeTable } from '../../proxy/model/node-table.ts';
import { PortTargets } from '../../proxy/model/port-targets.ts';
import { portKey, servicePortsOf } from '../../proxy/model/service-port.ts';
import type { LoadBalancers } from '../provider/provider.ts';
import { inRange, lowestFree, type AddressRange } from '../address-range.ts';

const CONNECTIONS_MAX = 8192;
/** As PortStatus wants it of a cloud's own errors: a name with a domain before it. */
const LISTEN_ERROR = 'pilothouse.dev/CannotListen';

const BY_SERVICE = { 'cloud-service': (slice: Stored<EndpointSlice>) => [serviceOf(slice) ?? ''] };

const addressesOf = (nodes: readonly Stored<Node>[]): string[] =>
  nodes.flatMap(({ status }) => (status?.addresses ?? []).map(({ address }) => address));

const BY_ADDRESS = { 'cloud-address': (node: Stored<Node>) => addressesOf([node]) };

interface Balancer {
  readonly service: string;
  address: string;
  hasNodes: boolean;
  readonly ports: Map<string, PortTargets>;
  /** By key of the place: the port that is served there. */
  readonly places: Map<string, { readonly place: Place; readonly port: string }>;
}

export interface LoopbackLoadBalancersOptions {
  readonly range: AddressRange;
  /** Of pods: loopback endpoints outside them that are no node's address are left out; empty: none are. */
  readonly podRanges: readonly Ipv4Range[];
  readonly informers: InformerFactory;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/**
 * Load balancers that are listeners of this process, on addresses of a range, and send connections straight to ready
 * endpoints. What is published says `ipMode: Proxy`, so that kube-proxy leaves the address to us.
 */
export class LoopbackLoadBalancers implements LoadBalancers {
  readonly #options: LoopbackLoadBalancersOptions;
  readonly #services: Informer<Service>;
  readonly #slices: Informer<EndpointSlice>;
  readonly #budget = new ConnectionBudget(CONNECTIONS_MAX);
  /** A load balancer knows no nodes of clients: no one is local to it. */
  readonly #nodes = new NodeTable();
  readonly #isServed: (address: string) => boolean;
  /** By uid: a recreated service is a different one. */
  readonly #balancers = new Map<string, Balancer>();
  #listeners: Listeners<TcpForwarder | UdpForwarder>;

  constructor(options: LoopbackLoadBalancersOptions) {
    const { informers } = options;
    this.#options = options;
    this.#listeners = new Listeners(options);
    const isPod = servedEndpoints(options.podRanges);
    const nodes = informers.informer(NODE, { indexers: BY_ADDRESS });
    this.#isServed = (address) => isPod(address) || nodes.store.byIndex('cloud-address', address).length > 0;
    this.#services = informers.informer(SERVICE);
    this.#slices = informers.informer(ENDPOINT_SLICE, { indexers: BY_SERVICE });
    const changed = (slice: EndpointSlice): void => this.#endpointsChanged(serviceOf(slice));
    this.#slices.addHandler({ added: changed, updated: (_, slice) => changed(slice), deleted: changed });
  }

  /** Also those that another process has made: they are in the status of their service. */
  statusOf(_cluster: string, service: Stored<Service>): Promise<V1LoadBalancerStatus | undefined> {
    const address = this.#balancers.get(service.metadata.uid)?.address ?? this.#published(service);
    return Promise.resolve(
      address === undefined ? undefined : { ingress: [{ ip: address, ipMode: 'Proxy' }] },
    );
  }

  async ensure(
    _cluster: string,
    service: Stored<Service>,
    nodes: readonly Stored<Node>[],
  ): Promise<V1LoadBalancerStatus> {
    const { uid } = service.metadata;
    const balancer: Balancer = this.#balancers.get(uid) ?? {
      service: objectKey(service),
      address: '',
      hasNodes: false,
      ports: new Map(),
      places: new Map(),
    };
    balancer.address = this.#addressFor(service, balancer.address, addressesOf(nodes));
    balancer.hasNodes = nodes.length > 0;
    this.#balancers.set(uid, balancer);
    this.#syncPorts(balancer, service);
    await this.#syncPlaces(balancer);
    return this.#status(balancer);
  }

  update(_cluster: string, service: Stored<Service>, nodes: readonly Stored<Node>[]): Promise<void> {
    const balancer = this.#balancers.get(service.metadata.uid);
    if (balancer) balancer.hasNodes = nodes.length > 0;
    return Promise.resolve();
  }

  ensureDeleted(_cluster: string, { metadata }: Stored<Service>): Promise<void> {
    const balancer = this.#balancers.get(metadata.uid);
    this.#balancers.delete(metadata.uid);
    for (const { place } of balancer?.places.values() ?? []) this.#listeners.remove(place);
    return Promise.resolve();
  }

  release(): Promise<void> {
    this.#listeners.close();
    this.#listeners = new Listeners(this.#options);
    this.#balancers.clear();
    return Promise.resolve();
  }

  #published({ status }: Stored<Service>): string | undefined {
    return status?.loadBalancer?.ingress
      ?.map(({ ip }) => ip ?? '')
      .find((ip) => inRange(this.#options.range, ip));
  }

  /** The one that was asked for, the one it has, or the lowest that no service has. */
  #addressFor(service: Stored<Service>, held: string, nodeAddresses: readonly string[]): string {
    const { range } = this.#options;
    const { uid } = service.metadata;
    // A node's address has the ports of components, whatever the range says.
    const taken = new Set(nodeAddresses);
    const claimed = new Set<string>();
    for (const other of this.#services.store.list()) {
      if (other.metadata.uid === uid) continue;
      const address = this.#published(other);
      if (address !== undefined) taken.add(address);
      for (const external of other.spec?.externalIPs ?? []) claimed.add(external);
    }
    for (const [other, { address }] of this.#balancers) if (other !== uid) taken.add(address);
    const wanted = service.spec?.loadBalancerIP;
    if (wanted) {
      if (!inRange(range, wanted))
        throw new ReasonError('BadAddress', `the address ${wanted} is not in --load-balancer-range`);
      if (
        taken.has(wanted) ||
        (claimed.has(wanted) && wanted !== held && wanted !== this.#published(service))
      )
        throw new ReasonError('AddressTaken', `the address ${wanted} belongs to another service or node`);
      return wanted;
    }
    const kept = [held, this.#published(service)].find((address) => address && !taken.has(address));
    // Claims by externalIPs are avoided, not obeyed: else one service could claim the range and leave none for others.
    const address =
      kept ??
      lowestFree(range, (candidate) => taken.has(candidate) || claimed.has(candidate)) ??
      lowestFree(range, (candidate) => taken.has(candidate));
    if (address === undefined)
      throw new ReasonError(
        'RangeFull',
        'no address of --load-balancer-range is free; delete a service of type LoadBalancer',
      );
    return address;
  }

  #syncPorts(balancer: Balancer, service: Stored<Service>): void {
    const ports = servicePortsOf(service);
    const slices = this.#slices.store.byIndex('cloud-service', balancer.service);
    const keys = new Set(ports.map(portKey));
    for (const key of [...balancer.ports.keys()]) if (!keys.has(key)) balancer.ports.delete(key);
    for (const port of ports) {
      const key = portKey(port);
      const { clock, random } = this.#options;
      const targets = balancer.ports.get(key) ?? new PortTargets(port, { nodes: this.#nodes, clock, random });
      targets.update(port, endpointsOf(slices, port, this.#isServed));
      balancer.ports.set(key, targets);
    }
  }

  async #syncPlaces(balancer: Balancer): Promise<void> {
    const wanted = new Map(
      [...balancer.ports].map(([key, { port }]) => {
        const place: Place = { protocol: port.protocol, address: balancer.address, port: port.port };
        return [placeKey(place), { place, port: key }];
      }),
    );
    for (const [key, { place }] of [...balancer.places]) {
      if (wanted.has(key)) continue;
      balancer.places.delete(key);
      this.#listeners.remove(place);
    }
    for (const [key, entry] of wanted) {
      balancer.places.set(key, entry);
      await this.#listeners.add(entry.place, () => this.#forwarder(balancer, key, entry.place));
    }
  }

  #forwarder(balancer: Balancer, key: string, place: Place): TcpForwarder | UdpForwarder {
    const pick = (client: string, tried: ReadonlySet<string>) => {
      const port = balancer.places.get(key)?.port;
      if (port === undefined || !balancer.hasNodes) return undefined;
      const binding = { place, port, scope: 'load-balancer', node: undefined } as const;
      return balancer.ports.get(port)?.pick(binding, client, tried);
    };
    const options = { pick, budget: this.#budget, clock: this.#options.clock };
    return place.protocol === 'TCP' ? new TcpForwarder(options) : new UdpForwarder(options);
  }

  #endpointsChanged(service: string | undefined): void {
    if (service === undefined) return;
    const slices = this.#slices.store.byIndex('cloud-service', service);
    for (const balancer of this.#balancers.values()) {
      if (balancer.service !== service) continue;
      for (const targets of balancer.ports.values())
        targets.update(targets.port, endpointsOf(slices, targets.port, this.#isServed));
      for (const { place, port } of balancer.places.values()) {
        const listener = place.protocol === 'UDP' ? this.#listeners.listenerAt(place) : undefined;
        listener?.resetTargets(({ name }) => balancer.ports.get(port)?.isTarget(name) !== true);
      }
    }
  }

  /** An address that another process still listens on will be ours when it ends: that is no error to publish. */
  #status({ address, places }: Balancer): V1LoadBalancerStatus {
    const ports = [...places.values()].map(({ place }): V1PortStatus => {
      const isRefused = this.#listeners.stateOf(place) === 'failed';
      return { port: place.port, protocol: place.protocol, ...(isRefused && { error: LISTEN_ERROR }) };
    });
    if (ports.length > 0 && ports.every(({ error }) => error !== undefined)) {
      const why = this.#listeners.all.find(({ place }) => place.address === address)?.error;
      throw new ReasonError('CannotListen', `none of the ports of ${address} can be listened on: ${why}`);
    }
    return { ingress: [{ ip: address, ipMode: 'Proxy', ports }] };
  }
}
