import type { Clock } from '../../base/clock.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Registry as Metrics } from '../../base/metrics/index.ts';
import { formatTime, isConflict, isNotFound, type KubernetesObject } from '../../api/meta/index.ts';
import { sameValue } from '../../api/validation/read.ts';
import type { ObjectReader } from '../storage/object-reader.ts';
import type { ObjectWriter } from '../bootstrap/object-writer.ts';
import type { DiscoveryCatalog } from '../discovery/catalog.ts';
import type { InternalInformer } from '../informer/internal-informer.ts';
import {
  API_SERVICES,
  LOCAL_AVAILABILITY,
  nameOf,
  remoteOf,
  withAvailability,
  type Availability,
  type RemoteApiService,
} from './api-service.ts';
import { checkAvailability } from './availability.ts';
import { createAvailabilityMetrics } from './availability-metrics.ts';
import { KeyedLoop } from './keyed-loop.ts';
import type { LocalGroupVersion } from './local-api-services.ts';
import { startRegistration, type Registration } from './registration.ts';
import type { RemoteClient } from './remote-client.ts';
import { RemoteDiscovery } from './remote-discovery.ts';
import { ENDPOINT_SLICES, serviceKeyOfSlice, SERVICES } from './service-objects.ts';

const CHECK_INTERVAL_MS = 30_000;
const CHECK_RETRY_MS_MIN = 5;
const DISCOVERY_INTERVAL_MS = 60_000;
const DISCOVERY_RETRY_MS_MIN = 500;
const AT_ONCE_MAX = 5;
/** How long changes of what is served are collected. */
const REFRESH_MS = 50;

export interface AggregatorOptions {
  readonly informer: InternalInformer;
  readonly reader: ObjectReader;
  readonly writer: ObjectWriter;
  readonly catalog: DiscoveryCatalog;
  readonly client: RemoteClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The APIServices as this server knows them, and everything that follows from them. */
export class Aggregator implements Disposable {
  readonly #options: AggregatorOptions;
  readonly #owned = new DisposableStore();
  readonly #objects = new Map<string, KubernetesObject>();
  readonly #remotes = new Map<string, RemoteApiService>();
  readonly #discoveries = new Map<string, RemoteDiscovery>();
  readonly #availability: KeyedLoop;
  readonly #discovery: KeyedLoop;
  readonly #metrics: ReturnType<typeof createAvailabilityMetrics>;
  #registration: Registration | undefined;
  #isFollowingServices = false;

  constructor(options: AggregatorOptions) {
    this.#options = options;
    const { clock } = options;
    this.#metrics = createAvailabilityMetrics(options.metrics);
    this.#availability = this.#owned.add(
      new KeyedLoop({
        clock,
        work: (name) => this.#check(name),
        againMs: CHECK_INTERVAL_MS,
        retryMsMin: CHECK_RETRY_MS_MIN,
        retryMsMax: CHECK_INTERVAL_MS,
        atOnceMax: AT_ONCE_MAX,
      }),
    );
    this.#discovery = this.#owned.add(
      new KeyedLoop({
        clock,
        work: (name) => this.#discover(name),
        againMs: DISCOVERY_INTERVAL_MS,
        retryMsMin: DISCOVERY_RETRY_MS_MIN,
        retryMsMax: DISCOVERY_INTERVAL_MS,
        atOnceMax: AT_ONCE_MAX,
      }),
    );
  }

  /** The APIService whose server answers for a group version; undefined where this server does. */
  find(group: string, version: string): RemoteApiService | undefined {
    return this.#remotes.get(`${version}.${group}`);
  }

  /**
   * Resolves when every APIService of the cluster is known: before that, none is routed. Registration begins after
   * `customReady`: an APIService of a custom resource that is not published yet would look like one that is gone.
   */
  async start(customReady: Promise<void>): Promise<void> {
    const { informer, log } = this.#options;
    const following = this.#owned.add(
      informer.follow(API_SERVICES, {
        upsert: (object) => this.#upsert(object),
        remove: (object) => this.#remove(object),
      }),
    );
    await following.ready;
    customReady.then(
      () => this.#register(),
      (error: unknown) => log.write('warn', 'APIServices are not registered', { error: messageOf(error) }),
    );
  }

  #register(): void {
    const { writer, clock, log, catalog } = this.#options;
    if (this.#owned.disposed) return;
    this.#registration = this.#owned.add(
      startRegistration({
        writer,
        clock,
        log,
        served: () => this.#served(),
        current: (name) => this.#objects.get(name),
        currentNames: () => [...this.#objects.keys()],
      }),
    );
    let known = JSON.stringify(this.#served());
    let due: Disposable | undefined;
    const refresh = (): void => {
      due = undefined;
      const served = JSON.stringify(this.#served());
      if (served === known) return;
      known = served;
      this.#registration?.refresh();
    };
    // Many definitions may come together: the catalog is sorted once for all of them.
    this.#owned.add(catalog.onChange(() => (due ??= clock.after(REFRESH_MS, refresh))));
    this.#owned.defer(() => due?.dispose());
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #served(): readonly LocalGroupVersion[] {
    const { catalog } = this.#options;
    return catalog.groups().flatMap(({ versions }) =>
      versions
        .filter(({ remote }) => remote === undefined)
        .map(({ group, version, groupPriority }) => ({
          group,
          version,
          groupPriority,
          isCustom: !catalog.isBuiltIn({ group, version }),
        })),
    );
  }

  #upsert(object: KubernetesObject): void {
    const name = nameOf(object);
    const before = this.#objects.get(name);
    this.#objects.set(name, object);
    this.#registration?.touch(name);
    const known = this.#remotes.get(name);
    const remote = remoteOf(object);
    if (remote) this.#remotes.set(name, remote);
    else if (known) this.#withdraw(known);
    // Another server may word the same failure differently: only a new spec is a reason to check now.
    if (!before || !sameValue(before['spec'], object['spec'])) this.#availability.wake(name);
    if (remote && !sameValue(known, remote)) this.#discovery.wake(name);
    if (remote) this.#followServices();
  }

  #remove(object: KubernetesObject): void {
    const name = nameOf(object);
    this.#objects.delete(name);
    this.#registration?.touch(name);
    this.#availability.forget(name);
    this.#metrics.forget(name);
    const remote = this.#remotes.get(name);
    if (remote) this.#withdraw(remote);
  }

  #withdraw(remote: RemoteApiService): void {
    this.#remotes.delete(remote.name);
    this.#discovery.forget(remote.name);
    this.#discoveries.delete(remote.name);
    this.#options.catalog.withdraw(remote);
  }

  /** Only where a Service matters: most clusters have no other API servers. */
  #followServices(): void {
    if (this.#isFollowingServices) return;
    this.#isFollowingServices = true;
    const follow = (resource: typeof SERVICES | typeof ENDPOINT_SLICES, keyOf: typeof serviceKeyOf) => {
      const changed = (object: KubernetesObject): void => {
        const key = keyOf(object);
        for (const { name, service } of this.#remotes.values())
          if (`${service.namespace}/${service.name}` === key) this.#availability.wake(name);
      };
      this.#owned.add(this.#options.informer.follow(resource, { upsert: changed, remove: changed }));
    };
    follow(SERVICES, serviceKeyOf);
    follow(ENDPOINT_SLICES, serviceKeyOfSlice);
  }

  async #check(name: string): Promise<void> {
    const { reader, client } = this.#options;
    const object = this.#objects.get(name);
    if (object === undefined) return;
    const remote = this.#remotes.get(name);
    const availability = remote ? await checkAvailability(reader, client, remote) : LOCAL_AVAILABILITY;
    // The check takes time: what it says is of the object as it was then.
    const now = this.#objects.get(name);
    if (now === undefined || !sameValue(now['spec'], object['spec'])) return;
    await this.#write(now, availability);
    if (!remote) this.#availability.forget(name);
    else if (availability.reason === 'FailedDiscoveryCheck') throw new Error(availability.message);
  }

  async #write(object: KubernetesObject, availability: Availability): Promise<void> {
    const { writer, clock, log } = this.#options;
    const name = nameOf(object);
    this.#metrics.set(name, availability);
    const next = withAvailability(object, availability, formatTime(clock.nowMs()));
    if (next === undefined) return;
    try {
      await writer.update(API_SERVICES, next, 'status');
      log.write('info', 'the availability of an APIService changed', { name, ...availability });
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error))
        log.write('warn', 'the status of an APIService could not be written', {
          name,
          error: messageOf(error),
        });
      throw error;
    }
  }

  async #discover(name: string): Promise<void> {
    const { catalog, client, log } = this.#options;
    const remote = this.#remotes.get(name);
    if (!remote) return;
    const discovery = this.#discoveries.get(name) ?? new RemoteDiscovery(client);
    this.#discoveries.set(name, discovery);
    const { published, problem } = await discovery.refresh(remote);
    if (this.#discoveries.get(name) !== discovery) return;
    const known = catalog.find(remote);
    if (!known?.remote || !sameValue(known, published)) catalog.publish(published);
    if (problem === undefined) return;
    log.write('debug', 'an aggregated API could not be discovered', { name, error: problem });
    throw new Error(problem);
  }
}

const serviceKeyOf = ({ metadata }: KubernetesObject): string =>
  `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
