import { inIpv4Range, type Ipv4Range } from '../../base/bind-rules.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { HttpListener } from '../../component/http-listener.ts';
import type { EndpointSlice, Service, Stored } from '../../client/index.ts';
import { Listeners, placeKey, type Place } from '../forwarding/index.ts';
import { nodePortHealth } from '../health/node-port-health.ts';
import type { ProxyHealth } from '../health/proxy-health.ts';
import type { ProxyMetrics } from '../metrics.ts';
import { endpointsOf } from '../model/endpoints.ts';
import type { NodeTable } from '../model/node-table.ts';
import { healthCheckNodePortOf, servicePortsOf } from '../model/service-port.ts';
import type { ServiceProxier, SyncResult } from '../proxier.ts';
import { NftTable, runCommand, type RunCommand } from '../../base/node/nft-table.ts';
import { serviceRules, type RulesNode, type ServedPort } from './service-rules.ts';
import { staleFlows } from './stale-flows.ts';

const TABLE = { family: 'ip', name: 'kube-proxy' } as const;
const CONNTRACK_MISSING = 'ENOENT';

export interface NftProxierOptions {
  readonly nodes: NodeTable;
  readonly health: ProxyHealth;
  readonly metrics: ProxyMetrics;
  readonly clusterRanges: readonly string[];
  /** Of node addresses that serve node ports; empty: all of them. */
  readonly nodePortRanges: readonly Ipv4Range[];
  readonly clock: Clock;
  readonly log: Log;
  readonly run?: RunCommand;
}

interface Served {
  readonly ports: readonly ServedPort[];
  readonly healthPlaces: ReadonlyMap<string, Place>;
}

/**
 * Services by rules of the kernel. Each sync only notes what a Service should be; a flush computes the rules of all and
 * writes what has changed in one transaction.
 */
export class NftProxier implements ServiceProxier {
  readonly #options: NftProxierOptions;
  readonly #table: NftTable;
  readonly #run: RunCommand;
  readonly #health: Listeners<HttpListener>;
  readonly #services = new Map<string, Served>();
  #nodeNames: readonly string[] = [];
  /** As the kernel has them. */
  #written: readonly ServedPort[] = [];
  #saidMissing = false;

  constructor(options: NftProxierOptions) {
    this.#options = options;
    this.#run = options.run ?? runCommand;
    this.#table = new NftTable(TABLE, this.#run);
    this.#health = new Listeners({ clock: options.clock, log: options.log });
  }

  get places() {
    return this.#health.all;
  }

  async sync(
    key: string,
    service: Stored<Service> | undefined,
    slices: readonly EndpointSlice[],
    nodeNames: readonly string[],
  ): Promise<SyncResult> {
    this.#nodeNames = nodeNames;
    const before = this.#services.get(key)?.healthPlaces ?? new Map<string, Place>();
    const ports = (service ? servicePortsOf(service) : []).map((port) => ({
      port,
      endpoints: endpointsOf(slices, port),
    }));
    const healthPort = service && healthCheckNodePortOf(service);
    const wanted = new Map(
      (healthPort === undefined ? [] : this.#nodePortAddresses()).map((address) => {
        const place: Place = { protocol: 'TCP', address, port: healthPort ?? 0 };
        return [placeKey(place), place] as const;
      }),
    );
    for (const [name, place] of before) if (!wanted.has(name)) this.#health.remove(place);
    for (const [name, place] of wanted)
      if (!before.has(name)) await this.#health.add(place, () => new HttpListener(() => this.#answer(key)));
    if (ports.length > 0) this.#services.set(key, { ports, healthPlaces: wanted });
    else this.#services.delete(key);
    return { retry: [] };
  }

  async flush(): Promise<void> {
    const ports = [...this.#services]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([, served]) => served.ports);
    await this.#table.write(serviceRules(ports, this.#node()));
    const before = this.#written;
    this.#written = ports;
    for (const { args } of staleFlows(before, ports)) await this.#deleteFlow(args);
  }

  /** Rules are computed from the nodes at every flush. */
  forgetSelections(): void {
    return;
  }

  observeMetrics(): void {
    const { noLocalEndpoints } = this.#options.metrics;
    let [internal, external] = [0, 0];
    for (const { port, endpoints } of this.#written) {
      const isLocal = endpoints.some(
        ({ isServing, nodeName = '' }) => isServing && this.#nodeNames.includes(nodeName),
      );
      if (isLocal) continue;
      if (port.internalTrafficPolicy === 'Local') internal += 1;
      if (port.externalTrafficPolicy === 'Local') external += 1;
    }
    noLocalEndpoints.labels('IPv4', 'internal').set(internal);
    noLocalEndpoints.labels('IPv4', 'external').set(external);
  }

  /** The rules stay, as upstream: Services keep working while kube-proxy is replaced. */
  close(): void {
    this.#health.close();
    this.#services.clear();
  }

  #nodePortAddresses(): readonly string[] {
    const { nodes, nodePortRanges: ranges } = this.#options;
    const all = this.#nodeNames.flatMap((name) => nodes.addressesOf(name));
    return ranges.length === 0
      ? all
      : all.filter((address) => ranges.some((range) => inIpv4Range(range, address)));
  }

  #node(): RulesNode {
    const { nodes, clusterRanges } = this.#options;
    return {
      nodeNames: this.#nodeNames,
      originOf: (name) => nodes.originOfNode(name),
      nodePortAddresses: this.#nodePortAddresses(),
      clusterRanges,
    };
  }

  #answer(service: string) {
    const ports = this.#services.get(service)?.ports ?? [];
    const counts = ports.map(
      ({ endpoints }) =>
        endpoints.filter(({ isReady, nodeName = '' }) => isReady && this.#nodeNames.includes(nodeName))
          .length,
    );
    return nodePortHealth({
      service,
      localEndpoints: Math.max(0, ...counts),
      isProxyHealthy: this.#options.health.isHealthy,
    });
  }

  /** conntrack(8) exits with 1 where there was no such flow. */
  async #deleteFlow(args: readonly string[]): Promise<void> {
    try {
      await this.#run(['conntrack', ...args]);
    } catch (error) {
      const code = (error as { readonly cause?: { readonly code?: unknown } }).cause?.code;
      if (code === 1 || (code === CONNTRACK_MISSING && this.#saidMissing)) return;
      this.#saidMissing ||= code === CONNTRACK_MISSING;
      this.#options.log.write('warn', 'stale UDP flows could not be deleted', { error: messageOf(error) });
    }
  }
}
