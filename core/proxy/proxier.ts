import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import { objectKey } from '../api/meta/index.ts';
import type { EndpointSlice, EventRecorder, Service, Stored } from '../client/index.ts';
import {
  Listeners,
  ownSource,
  placeKey,
  TcpForwarder,
  UdpForwarder,
  type ConnectionBudget,
  type ForwardObserver,
  type MayReach,
  type Place,
  type Target,
} from './forwarding/index.ts';
import { HttpListener } from '../component/http-listener.ts';
import { nodePortHealth } from './health/node-port-health.ts';
import type { ProxyHealth } from './health/proxy-health.ts';
import type { ProxyMetrics } from './metrics.ts';
import { bindingsOf, type Binding, type Scope } from './model/bindings.ts';
import { judgeBindings, refusalText, type ClaimRanges } from './model/claims.ts';
import { endpointsOf } from './model/endpoints.ts';
import type { NodeTable } from './model/node-table.ts';
import { PortTargets } from './model/port-targets.ts';
import { healthCheckNodePortOf, portKey, servicePortsOf } from './model/service-port.ts';

export type MayReachThrough = (client: string, target: Target, place: Place) => ReturnType<MayReach>;

export interface ProxierOptions {
  readonly nodes: NodeTable;
  readonly budget: ConnectionBudget;
  readonly metrics: ProxyMetrics;
  readonly health: ProxyHealth;
  readonly claims: ClaimRanges;
  /** Who may connect; everyone that the address can be reached by without it. */
  readonly isClient?: (address: string) => boolean;
  /** Whether policies let a client reach an endpoint through a place; undefined: they are not asked. */
  readonly mayReach?: MayReachThrough;
  /** Endpoints elsewhere are left out. */
  readonly isServed: (address: string) => boolean;
  /** Another service that has this address, as `namespace/name`. */
  readonly holderOf: (address: string, service: string) => string | undefined;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

interface ServiceState {
  readonly ports: Map<string, PortTargets>;
  /** By key of the place. */
  readonly bindings: Map<string, Binding>;
  readonly healthPlaces: Map<string, { readonly place: Place; readonly node: string }>;
  /** What was refused at the last sync: each refusal is reported once. */
  refusals: ReadonlySet<string>;
}

export interface SyncResult {
  /** Services that wanted a place which is free now. */
  readonly retry: readonly string[];
}

/** What brings services in line, by listeners or by rules of the kernel. */
export interface ServiceProxier {
  readonly places: Listeners<AnyForwarder | HttpListener>['all'];
  sync(
    key: string,
    service: Stored<Service> | undefined,
    slices: readonly EndpointSlice[],
    nodeNames: readonly string[],
  ): Promise<SyncResult>;
  /** After a batch of syncs. Rejects when it must be tried again. */
  flush?(): Promise<void>;
  forgetSelections(): void;
  observeMetrics(): void;
  close(): void | Promise<void>;
}

type AnyForwarder = TcpForwarder | UdpForwarder;

/** Stands for the health check node port, which is no port of the service. */
const HEALTH_PORT_KEY = 'health-check-node-port';
const REFUSED_REASON = 'AddressNotAllowed';
/** More than that are in the log alone. */
const REFUSAL_EVENTS_MAX = 8;

/**
 * What the proxy listens on, brought in line with one service at a time: whatever a change does not concern is not
 * touched, and connections that are open continue whatever changes.
 */
export class Proxier implements ServiceProxier {
  readonly #options: ProxierOptions;
  readonly #listeners: Listeners<AnyForwarder | HttpListener>;
  readonly #services = new Map<string, ServiceState>();
  /** Who has a place, where two services want the same one. */
  readonly #owners = new Map<string, string>();
  /** Who did not get it. */
  readonly #losers = new Map<string, Set<string>>();
  readonly #observer: ForwardObserver;

  constructor(options: ProxierOptions) {
    this.#options = options;
    const { metrics, clock, log } = options;
    this.#listeners = new Listeners({ clock, log });
    this.#observer = {
      opened: () => {
        metrics.connectionsOpened.inc();
        metrics.connections.add(1);
      },
      closed: () => metrics.connections.add(-1),
      connectFailed: () => metrics.connectFailures.inc(),
      refused: () => metrics.refused.inc(),
      dropped: () => metrics.dropped.inc(),
    };
  }

  get services(): ReadonlyMap<string, ServiceState> {
    return this.#services;
  }

  get places() {
    return this.#listeners.all;
  }

  /** Brings one service to what is declared; undefined: it is gone. Never runs twice at the same time. */
  async sync(
    key: string,
    service: Stored<Service> | undefined,
    slices: readonly EndpointSlice[],
    nodeNames: readonly string[],
  ): Promise<SyncResult> {
    const state: ServiceState = this.#services.get(key) ?? {
      ports: new Map(),
      bindings: new Map(),
      healthPlaces: new Map(),
      refusals: new Set(),
    };
    const ports = service ? servicePortsOf(service) : [];
    this.#syncPorts(state, ports, slices);
    const healthPort = service && healthCheckNodePortOf(service);
    const healthWanted = service ? this.#healthBindings(healthPort, nodeNames) : [];
    const { allowed, refused } = judgeBindings(
      [...ports.flatMap((port) => bindingsOf(port, this.#options.nodes, nodeNames)), ...healthWanted],
      {
        ranges: this.#options.claims,
        nodes: this.#options.nodes,
        nodeNames,
        holderOf: (address) => this.#options.holderOf(address, key),
      },
    );
    if (service) this.#report(service, state, refused.map(refusalText));
    const isKept = ports.length > 0;
    if (isKept) this.#services.set(key, state);
    else this.#services.delete(key);
    const isHealth = ({ port }: Binding): boolean => port === HEALTH_PORT_KEY;
    const freed = await this.#syncBindings(
      key,
      state,
      allowed.filter((binding) => !isHealth(binding)),
    );
    await this.#syncHealthPlaces(key, state, allowed.filter(isHealth));
    this.#endStaleSessions(state);
    return { retry: freed };
  }

  /** After nodes have changed. */
  forgetSelections(): void {
    for (const { ports } of this.#services.values())
      for (const targets of ports.values()) targets.forgetSelections();
  }

  observeMetrics(): void {
    const { listeners, noLocalEndpoints } = this.#options.metrics;
    for (const state of ['listening', 'standby', 'failed'] as const)
      listeners.labels(state).set(this.#listeners.count(state));
    let [internal, external] = [0, 0];
    for (const { ports } of this.#services.values())
      for (const { port, endpoints } of ports.values()) {
        if (endpoints.some(({ isServing }) => isServing)) continue;
        if (port.internalTrafficPolicy === 'Local') internal += 1;
        if (port.externalTrafficPolicy === 'Local') external += 1;
      }
    noLocalEndpoints.labels('IPv4', 'internal').set(internal);
    noLocalEndpoints.labels('IPv4', 'external').set(external);
  }

  close(): void {
    this.#listeners.close();
    this.#services.clear();
    this.#owners.clear();
    this.#losers.clear();
  }

  #syncPorts(
    state: ServiceState,
    ports: ReturnType<typeof servicePortsOf>,
    slices: readonly EndpointSlice[],
  ): void {
    const keys = new Set(ports.map(portKey));
    for (const key of [...state.ports.keys()]) if (!keys.has(key)) state.ports.delete(key);
    for (const port of ports) {
      const key = portKey(port);
      const targets = state.ports.get(key) ?? new PortTargets(port, this.#options);
      targets.update(port, endpointsOf(slices, port, this.#options.isServed));
      state.ports.set(key, targets);
    }
  }

  async #syncBindings(
    key: string,
    state: ServiceState,
    wanted: readonly Binding[],
  ): Promise<readonly string[]> {
    const byPlace = new Map(wanted.map((binding) => [placeKey(binding.place), binding]));
    const freed: string[] = [];
    for (const [place, binding] of [...state.bindings]) {
      if (byPlace.has(place)) continue;
      state.bindings.delete(place);
      this.#owners.delete(place);
      this.#listeners.remove(binding.place);
      freed.push(...(this.#losers.get(place) ?? []));
      this.#losers.delete(place);
    }
    for (const [place, binding] of byPlace) {
      const owner = this.#owners.get(place);
      if (owner !== undefined && owner !== key) {
        this.#options.log.write('warn', 'two services want one address; the first has it', {
          place,
          service: key,
          owner,
        });
        this.#losers.set(place, (this.#losers.get(place) ?? new Set()).add(key));
        continue;
      }
      this.#owners.set(place, key);
      state.bindings.set(place, binding);
      await this.#listeners.add(binding.place, () => this.#forwarder(key, place, binding.place));
    }
    return freed;
  }

  /** What it forwards to is looked up at each connection: a listener outlives many changes of its service. */
  #forwarder(service: string, place: string, at: Place): AnyForwarder {
    const { protocol } = at;
    const { clock, budget, isClient } = this.#options;
    const pick = (client: string, tried: ReadonlySet<string>) => {
      if (isClient?.(client) === false) return undefined;
      const state = this.#services.get(service);
      const binding = state?.bindings.get(place);
      return binding && state?.ports.get(binding.port)?.pick(binding, client, tried);
    };
    const mayReach: MayReach = (client, target) => this.#options.mayReach?.(client, target, at);
    const options = { pick, budget, clock, observer: this.#observer, sourceFor: ownSource, mayReach };
    return protocol === 'TCP' ? new TcpForwarder(options) : new UdpForwarder(options);
  }

  async #syncHealthPlaces(key: string, state: ServiceState, bindings: readonly Binding[]): Promise<void> {
    const wanted = new Map(
      bindings.map(({ place, node = '' }): [string, { place: Place; node: string }] => [
        placeKey(place),
        { place, node },
      ]),
    );
    for (const [place, held] of [...state.healthPlaces]) {
      if (wanted.has(place)) continue;
      state.healthPlaces.delete(place);
      this.#listeners.remove(held.place);
    }
    for (const [place, { place: at, node }] of wanted) {
      state.healthPlaces.set(place, { place: at, node });
      await this.#listeners.add(at, () => new HttpListener(() => this.#nodeHealth(key, node)));
    }
  }

  #healthBindings(port: number | undefined, nodeNames: readonly string[]): readonly Binding[] {
    if (port === undefined) return [];
    return nodeNames.flatMap((node) =>
      this.#options.nodes.addressesOf(node).map((address) => ({
        place: { protocol: 'TCP', address, port } as const,
        port: HEALTH_PORT_KEY,
        scope: 'node-port' satisfies Scope,
        node,
      })),
    );
  }

  #report(service: Stored<Service>, state: ServiceState, refusals: readonly string[]): void {
    const fresh = refusals.filter((text) => !state.refusals.has(text));
    state.refusals = new Set(refusals);
    for (const text of fresh.slice(0, REFUSAL_EVENTS_MAX))
      this.#options.events.event(service, 'Warning', REFUSED_REASON, text);
    for (const text of fresh)
      this.#options.log.write('warn', 'address claim refused', { service: objectKey(service), why: text });
  }

  #nodeHealth(service: string, node: string) {
    const ports = [...(this.#services.get(service)?.ports.values() ?? [])];
    // All ports of a service have the same pods: the port that knows of the most is the one to ask.
    const localEndpoints = Math.max(0, ...ports.map((targets) => targets.localCount(node)));
    return nodePortHealth({ service, localEndpoints, isProxyHealthy: this.#options.health.isHealthy });
  }

  /** A datagram socket never says that it has ended: a client would continue talking to a pod that is gone. */
  #endStaleSessions(state: ServiceState): void {
    for (const { place, port } of state.bindings.values()) {
      if (place.protocol !== 'UDP') continue;
      const listener = this.#listeners.listenerAt(place);
      const targets = state.ports.get(port);
      if (listener instanceof UdpForwarder)
        listener.resetTargets(({ name }) => targets?.isTarget(name) !== true);
    }
  }
}
