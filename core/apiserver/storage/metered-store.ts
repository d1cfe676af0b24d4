import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Counter, Histogram, Registry } from '../../base/metrics/index.ts';
import type { GroupResource } from '../../api/meta/index.ts';
import type {
  DeleteOptions,
  ListOptions,
  ListResult,
  Store,
  StoredValue,
  StoreWatch,
  UpdateOptions,
  WriteOptions,
} from './store.ts';

const BUCKETS_SECONDS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
/** Seven operations on each resource. */
const LABEL_SETS_MAX = 7 * 2000;

export interface MeteredStoreOptions {
  readonly metrics: Registry;
  readonly clock: Clock;
  /** Whose key it is, always the same object for a resource; undefined for what belongs to no resource, which is not counted. */
  resourceOf(key: string): GroupResource | undefined;
}

type Operation = 'get' | 'list' | 'listWithCount' | 'create' | 'update' | 'delete';

/** The metrics of one operation on one resource, found once. */
interface Handles {
  readonly seconds: Histogram;
  readonly requests: Counter;
  failed(): void;
}

/** How long etcd takes for what is asked of it, under upstream's names. What a caller does meanwhile is not counted. */
export class MeteredStore implements Store {
  readonly #store: Store;
  readonly #options: MeteredStoreOptions;
  readonly #seconds;
  readonly #requests;
  readonly #errors;
  readonly #handles = new Map<GroupResource, Map<Operation, Handles>>();

  constructor(store: Store, options: MeteredStoreOptions) {
    this.#store = store;
    this.#options = options;
    const labels = ['operation', 'group', 'resource'] as const;
    const { metrics } = options;
    this.#seconds = metrics.histogramFamily({
      name: 'etcd_request_duration_seconds',
      help: 'Etcd request latency in seconds for each operation and object type.',
      labels,
      buckets: BUCKETS_SECONDS,
      labelSetsMax: LABEL_SETS_MAX,
    });
    this.#requests = metrics.counterFamily({
      name: 'etcd_requests_total',
      help: 'Etcd request counts for each operation and object type.',
      labels,
      labelSetsMax: LABEL_SETS_MAX,
    });
    this.#errors = metrics.counterFamily({
      name: 'etcd_request_errors_total',
      help: 'Etcd failed request counts for each operation and object type.',
      labels,
      labelSetsMax: LABEL_SETS_MAX,
    });
  }

  get(key: string, options?: Parameters<Store['get']>[1]): Promise<StoredValue> {
    return this.#measurePlain('get', key, () => this.#store.get(key, options));
  }

  list(prefix: string, options?: ListOptions): Promise<ListResult> {
    return this.#measurePlain('list', prefix, () => this.#store.list(prefix, options));
  }

  count(prefix: string): Promise<number> {
    return this.#measurePlain('listWithCount', prefix, () => this.#store.count(prefix));
  }

  create(key: string, value: Uint8Array, options?: WriteOptions): Promise<StoredValue> {
    return this.#measurePlain('create', key, () => this.#store.create(key, value, options));
  }

  guaranteedUpdate(key: string, options: UpdateOptions): Promise<StoredValue> {
    return this.#measure('update', key, (beside) =>
      this.#store.guaranteedUpdate(key, {
        ...options,
        transform: (current) => beside(() => options.transform(current)),
      }),
    );
  }

  delete(key: string, options: DeleteOptions = {}): Promise<StoredValue> {
    const { check } = options;
    return this.#measure('delete', key, (beside) =>
      this.#store.delete(key, {
        ...options,
        ...(check && { check: (current: StoredValue) => beside(() => check(current)) }),
      }),
    );
  }

  watch(prefix: string, afterRevision: number, handlers: StoreWatch): Disposable {
    return this.#store.watch(prefix, afterRevision, handlers);
  }

  currentRevision(): Promise<number> {
    return this.#store.currentRevision();
  }

  requestProgress(): Promise<boolean> {
    return this.#store.requestProgress();
  }

  #handlesOf(operation: Operation, key: string): Handles | undefined {
    const resource = this.#options.resourceOf(key);
    if (resource === undefined) return undefined;
    let known = this.#handles.get(resource);
    if (known === undefined) this.#handles.set(resource, (known = new Map()));
    let handles = known.get(operation);
    if (handles === undefined) {
      const labels = [operation, resource.group, resource.resource] as const;
      handles = {
        seconds: this.#seconds.labels(...labels),
        requests: this.#requests.labels(...labels),
        failed: () => this.#errors.labels(...labels).inc(),
      };
      known.set(operation, handles);
    }
    return handles;
  }

  /** For operations in which the caller has no part. */
  async #measurePlain<T>(operation: Operation, key: string, ask: () => Promise<T>): Promise<T> {
    const handles = this.#handlesOf(operation, key);
    const { clock } = this.#options;
    const startMs = clock.monotonicMs();
    try {
      return await ask();
    } catch (error) {
      handles?.failed();
      throw error;
    } finally {
      handles?.seconds.observe((clock.monotonicMs() - startMs) / 1000);
      handles?.requests.inc();
    }
  }

  /** `beside` runs what is the caller's and takes its time off. */
  async #measure<T>(
    operation: Operation,
    key: string,
    ask: (beside: <R>(run: () => R | Promise<R>) => Promise<R>) => Promise<T>,
  ): Promise<T> {
    const handles = this.#handlesOf(operation, key);
    const { clock } = this.#options;
    const startMs = clock.monotonicMs();
    let besideMs = 0;
    // Only a failure of the store is etcd's: a caller that refuses to continue is not.
    let isRefused = false;
    const beside = async <R>(run: () => R | Promise<R>): Promise<R> => {
      const fromMs = clock.monotonicMs();
      try {
        return await run();
      } catch (error) {
        isRefused = true;
        throw error;
      } finally {
        besideMs += clock.monotonicMs() - fromMs;
      }
    };
    let hasFailed = true;
    try {
      const answer = await ask(beside);
      hasFailed = false;
      return answer;
    } finally {
      handles?.seconds.observe((clock.monotonicMs() - startMs - besideMs) / 1000);
      handles?.requests.inc();
      if (hasFailed && !isRefused) handles?.failed();
    }
  }
}
