import type { Ipv4Range } from '../base/bind-rules.ts';
import type { Clock } from '../base/clock.ts';
import { DisposableStore } from '../base/disposable.ts';
import { messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { Registry } from '../base/metrics/index.ts';
import type { Random } from '../base/random.ts';
import { objectKey, parseTime } from '../api/meta/index.ts';
import {
  ENDPOINT_SLICE,
  NODE,
  SERVICE,
  silentEvents,
  type EndpointSlice,
  type EventRecorder,
  type InformerFactory,
  type Service,
  type Stored,
} from '../client/index.ts';
import { ConnectionBudget } from './forwarding/index.ts';
import { ProxyHealth } from './health/proxy-health.ts';
import { proxyMetrics } from './metrics.ts';
import { allocatedAddresses, NO_CLAIMS, type ClaimRanges } from './model/claims.ts';
import { servedEndpoints, serviceOf } from './model/endpoints.ts';
import { NodeTable } from './model/node-table.ts';
import type { RunCommand } from '../base/node/nft-table.ts';
import { NftProxier } from './nftables/nft-proxier.ts';
import { Proxier, type MayReachThrough, type ProxierOptions, type ServiceProxier } from './proxier.ts';

/** What upstream leaves to others: headless services have no address to listen on. */
const SLICE_SELECTOR = '!service.kubernetes.io/headless,!service.kubernetes.io/service-proxy-name';
const SERVICE_SELECTOR = SLICE_SELECTOR;
const TRIGGER_TIME_ANNOTATION = 'endpoints.kubernetes.io/last-change-trigger-time';
const CONNECTIONS_MAX = 8192;
/** Between attempts to write rules that the kernel did not take. */
const FLUSH_RETRY_MS = 30_000;
/** Trigger times that wait for a sync; more than that are not measured. */
const TRIGGERS_MAX = 10_000;

const BY_SERVICE = { 'proxy-service': (slice: Stored<EndpointSlice>) => [serviceOf(slice) ?? ''] };

const BY_ADDRESS = {
  'proxy-allocated': allocatedAddresses,
  'proxy-external': ({ spec }: Stored<Service>) => [...new Set(spec?.externalIPs ?? [])],
};

export interface ProxyOptions {
  /** Not started yet; anyone who made it starts and stops it. */
  readonly informers: InformerFactory;
  /** The nodes it stands for: their node ports are served here. */
  readonly nodeNames: readonly string[];
  /** Default: none beside the nodes' own addresses. */
  readonly claims?: ClaimRanges;
  /** Ranges of pods: with the ranges of node ports they say where endpoints on loopback may be. */
  readonly clusterRanges?: readonly Ipv4Range[];
  /** Rules of the kernel instead of listeners; `run` leads into the network namespace that they are for. */
  readonly nftables?: { readonly run?: RunCommand };
  /** Who may connect where addresses beyond loopback are served. */
  readonly isClient?: (address: string) => boolean;
  /** Whether policies let a client reach an endpoint; undefined: they are not asked. */
  readonly mayReach?: MayReachThrough;
  /** Hears of addresses that a service is refused. */
  readonly events?: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly registry?: Registry;
  readonly connectionsMax?: number;
}

export interface Proxy {
  readonly registry: Registry;
  readonly health: ProxyHealth;
  /** Resolves when everything that was there at the start is served (or stood by for). */
  readonly synced: Promise<void>;
  /** Other nodes than at the start. */
  setNodeNames(names: readonly string[]): void;
  /** Every place it wants to listen on, and what became of it. */
  places(): ServiceProxier['places'];
  /** Resolves when nothing waits to be brought in line. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** Listeners on the addresses of Services, or rules of the kernel. */
const proxierOf = (
  options: ProxyOptions,
  shared: Pick<ProxierOptions, 'nodes' | 'health' | 'metrics' | 'holderOf'>,
): ServiceProxier => {
  const {
    clock,
    random,
    log,
    nftables,
    isClient,
    mayReach,
    claims = NO_CLAIMS,
    clusterRanges: pods = [],
  } = options;
  if (nftables)
    return new NftProxier({
      ...shared,
      clusterRanges: pods.map(({ text }) => text),
      nodePortRanges: claims.nodePort,
      clock,
      log,
      ...nftables,
    });
  // Endpoints are pods and, in the network of a host, nodes: only with both ranges are other addresses known to be foreign.
  const endpointRanges = pods.length > 0 && claims.nodePort.length > 0 ? [...pods, ...claims.nodePort] : [];
  return new Proxier({
    ...shared,
    budget: new ConnectionBudget(options.connectionsMax ?? CONNECTIONS_MAX),
    claims,
    ...(isClient && { isClient }),
    ...(mayReach && { mayReach }),
    isServed: servedEndpoints(endpointRanges),
    events: options.events ?? silentEvents,
    clock,
    random,
    log,
  });
};

/** kube-proxy: what Services, endpoints and nodes say, brought to whatever serves them. */
export const createProxy = (options: ProxyOptions): Proxy => {
  const { informers, clock, log } = options;
  const registry = options.registry ?? new Registry();
  const metrics = proxyMetrics(registry);
  const nodes = new NodeTable();
  let nodeNames = options.nodeNames;
  const health = new ProxyHealth({
    clock,
    metrics,
    isNodeEligible: () => nodeNames.every((name) => nodes.isEligible(name)),
  });
  const proxier = proxierOf(options, {
    nodes,
    health,
    metrics,
    holderOf: (address, service) =>
      services.store
        .byIndex('proxy-allocated', address)
        .map(objectKey)
        .find((holder) => holder !== service),
  });
  const owned = new DisposableStore();
  owned.add(registry.beforeExpose(() => proxier.observeMetrics()));

  const services = informers.informer(SERVICE, { labelSelector: SERVICE_SELECTOR, indexers: BY_ADDRESS });
  const slices = informers.informer(ENDPOINT_SLICE, { labelSelector: SLICE_SELECTOR, indexers: BY_SERVICE });
  const nodeInformer = informers.informer(NODE);

  const dirty = new Set<string>();
  const triggersMs: number[] = [];
  const pending = { services: 0, endpoints: 0 };
  let isReady = false;
  let isClosed = false;
  let running: Promise<void> | undefined;

  const syncDirty = async (): Promise<void> => {
    while (dirty.size > 0 && !isClosed) {
      const startedMs = clock.monotonicMs();
      const keys = [...dirty];
      const triggers = triggersMs.splice(0);
      dirty.clear();
      pending.services = pending.endpoints = 0;
      for (const key of keys) {
        if (isClosed) return;
        try {
          const found = slices.store.byIndex('proxy-service', key);
          const { retry } = await proxier.sync(key, services.store.get(key), found, nodeNames);
          for (const other of retry) dirty.add(other);
        } catch (error) {
          log.write('error', 'a service could not be brought in line', {
            service: key,
            error: messageOf(error),
          });
        }
      }
      await flush(keys);
      metrics.syncDuration.observe((clock.monotonicMs() - startedMs) / 1000);
      for (const triggerMs of triggers)
        metrics.networkProgramming.observe(Math.max(0, clock.nowMs() - triggerMs) / 1000);
    }
    health.updated();
    metrics.serviceChangesPending.set(0);
    metrics.endpointChangesPending.set(0);
  };

  /** What the kernel did not take is tried again, after a time, as a whole. */
  const flush = async (keys: readonly string[]): Promise<void> => {
    try {
      await proxier.flush?.();
    } catch (error) {
      log.write('error', 'rules could not be written; they are tried again', { error: messageOf(error) });
      const retry = clock.after(FLUSH_RETRY_MS, () => {
        for (const key of keys) queue(key);
      });
      owned.add(retry);
    }
  };

  const wake = (): void => {
    if (!isReady || isClosed || running || dirty.size === 0) return;
    running = syncDirty().finally(() => {
      running = undefined;
      wake();
    });
  };

  const queue = (key: string | undefined): void => {
    if (key === undefined) return;
    dirty.add(key);
    health.queued();
    wake();
  };

  const serviceChanged = (service: Stored<Service>, before?: Stored<Service>): void => {
    metrics.serviceChanges.inc();
    metrics.serviceChangesPending.set((pending.services += 1));
    queue(objectKey(service));
    // A claim of an address stands only as long as the address is allocated to no other service.
    const addresses = new Set([
      ...allocatedAddresses(service),
      ...(before ? allocatedAddresses(before) : []),
    ]);
    for (const address of addresses)
      for (const claimant of services.store.byIndex('proxy-external', address)) queue(objectKey(claimant));
  };

  const sliceChanged = (slice: Stored<EndpointSlice>, before?: Stored<EndpointSlice>): void => {
    metrics.endpointChanges.inc();
    metrics.endpointChangesPending.set((pending.endpoints += 1));
    const text = slice.metadata.annotations?.[TRIGGER_TIME_ANNOTATION];
    const isNew = text !== undefined && text !== before?.metadata.annotations?.[TRIGGER_TIME_ANNOTATION];
    const triggerMs = isNew && isReady ? parseTime(text) : undefined;
    if (triggerMs !== undefined && triggersMs.length < TRIGGERS_MAX) triggersMs.push(triggerMs);
    if (before && serviceOf(before) !== serviceOf(slice)) queue(serviceOf(before));
    queue(serviceOf(slice));
  };

  const nodesChanged = (): void => {
    proxier.forgetSelections();
    for (const service of services.store.list())
      if (
        options.nftables !== undefined ||
        service.spec?.type === 'NodePort' ||
        service.spec?.type === 'LoadBalancer' ||
        (service.spec?.externalIPs ?? []).length > 0
      )
        queue(objectKey(service));
  };

  owned.add(
    services.addHandler({
      added: (service) => serviceChanged(service),
      updated: (before, service) => serviceChanged(service, before),
      deleted: (service) => serviceChanged(service),
    }),
  );
  owned.add(
    slices.addHandler({
      added: (slice) => sliceChanged(slice),
      updated: (before, slice) => sliceChanged(slice, before),
      deleted: (slice) => sliceChanged(slice),
    }),
  );
  owned.add(
    nodeInformer.addHandler({
      added: (node) => void (nodes.set(node) && nodesChanged()),
      updated: (_before, node) => void (nodes.set(node) && nodesChanged()),
      deleted: (node) => void (nodes.delete(node.metadata.name) && nodesChanged()),
    }),
  );

  const settled = async (): Promise<void> => {
    while (running) await running;
  };

  const stop = new AbortController();
  /** Half of what is there would make clients be reset that have endpoints: all is known before anything is served. */
  const start = async (): Promise<void> => {
    await Promise.all([services, slices, nodeInformer].map((informer) => informer.whenSynced(stop.signal)));
    isReady = true;
    health.queued();
    wake();
    await settled();
    // Without a Service there is a table all the same.
    if (services.store.list().length === 0) await flush([]);
    if (!isClosed) health.updated();
  };
  const synced = start();
  // Ending before the first list is no failure of anybody who does not wait for it.
  synced.catch(() => undefined);

  return {
    registry,
    health,
    synced,
    setNodeNames(names) {
      nodeNames = names;
      nodesChanged();
    },
    places: () => proxier.places,
    settled,
    async close() {
      isClosed = true;
      stop.abort(new Error('the proxy was closed'));
      owned.dispose();
      await settled();
      await proxier.close();
    },
  };
};
