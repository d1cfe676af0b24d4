import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import {
  ENDPOINT_SLICE,
  InformerFactory,
  NAMESPACE,
  SERVICE,
  type Client,
  type EndpointSlice,
  type Informer,
  type Namespace,
  type Service,
} from '../../client/index.ts';
import { canonical, SERVICE_LABEL, type ZoneSource } from '../zone/index.ts';

/** As CoreDNS waits for the API before it answers without it. */
const SYNC_TIMEOUT_MS = 5_000;
const ADDRESS_INDEX = 'address';
const SERVICE_INDEX = 'service';

export interface ApiSourceOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** What no answer needs is not kept. */
const small = <T extends Service | EndpointSlice | Namespace>(object: T): T => {
  delete object.metadata?.managedFields;
  delete object.metadata?.annotations;
  return object;
};

/** Watches of the cluster's objects, from which names are answered. */
export class ApiSource implements Disposable {
  readonly #options: ApiSourceOptions;
  readonly #informers: InformerFactory;
  readonly #namespaces: Informer<Namespace>;
  readonly #services: Informer<Service>;
  readonly #slices: Informer<EndpointSlice>;
  #changedMs: number;

  constructor(options: ApiSourceOptions) {
    this.#options = options;
    this.#changedMs = options.clock.nowMs();
    this.#informers = new InformerFactory(options);
    this.#namespaces = this.#informers.informer(NAMESPACE, { transform: small });
    this.#services = this.#informers.informer(SERVICE, {
      transform: small,
      indexers: { [ADDRESS_INDEX]: ({ spec }) => (spec?.clusterIPs ?? []).map(canonical) },
    });
    this.#slices = this.#informers.informer(ENDPOINT_SLICE, {
      transform: small,
      indexers: {
        [SERVICE_INDEX]: ({ metadata }) => [
          `${metadata.namespace}/${metadata.labels?.[SERVICE_LABEL] ?? ''}`,
        ],
        [ADDRESS_INDEX]: ({ endpoints }) =>
          (endpoints ?? []).flatMap(({ addresses }) => addresses.map(canonical)),
      },
    });
    const onChange = (): void => void (this.#changedMs = options.clock.nowMs());
    const handler = { added: onChange, updated: onChange, deleted: onChange };
    this.#services.addHandler(handler);
    this.#slices.addHandler(handler);
    this.#informers.start();
  }

  get isSynced(): boolean {
    return this.#namespaces.synced && this.#services.synced && this.#slices.synced;
  }

  /** Rejects when the API has not told everything in time. */
  async ready(): Promise<ZoneSource> {
    if (!this.isSynced) {
      const abort = new AbortController();
      const timer = this.#options.clock.after(SYNC_TIMEOUT_MS, () => abort.abort());
      try {
        await this.#informers.whenSynced(abort.signal);
      } catch (cause) {
        throw new ReasonError('NotSynced', 'services and endpoint slices have not been listed yet', {
          cause,
        });
      } finally {
        timer.dispose();
      }
    }
    return this.#zone;
  }

  dispose(): void {
    this.#informers.dispose();
  }

  get #zone(): ZoneSource {
    const changedMs = this.#changedMs;
    return {
      serial: Math.floor(changedMs / 1000) % 2 ** 32,
      hasNamespace: (namespace) => this.#namespaces.store.get(namespace) !== undefined,
      service: (namespace, name) => this.#services.store.find(namespace, name),
      slicesOf: (namespace, service) => this.#slices.store.byIndex(SERVICE_INDEX, `${namespace}/${service}`),
      servicesAt: (address) => this.#services.store.byIndex(ADDRESS_INDEX, address),
      slicesAt: (address) => this.#slices.store.byIndex(ADDRESS_INDEX, address),
    };
  }
}
