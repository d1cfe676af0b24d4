import type { Clock } from '../../base/clock.ts';
import { toDisposable, type Disposable } from '../../base/disposable.ts';
import {
  exponentialBuckets,
  type Counter,
  type Family,
  type Gauge,
  type Histogram,
  type Registry,
} from '../../base/metrics/index.ts';

type ByName<T> = Family<T, readonly ['name']>;

interface Families {
  readonly depth: ByName<Gauge>;
  readonly adds: ByName<Counter>;
  readonly queued: ByName<Histogram>;
  readonly worked: ByName<Histogram>;
  readonly unfinished: ByName<Gauge>;
  readonly longest: ByName<Gauge>;
  readonly retries: ByName<Counter>;
}

const BUCKETS_SECONDS = exponentialBuckets(1e-8, 10, 10);
const families = new WeakMap<Registry, Families>();

const familiesOf = (registry: Registry): Families => {
  const known = families.get(registry);
  if (known) return known;
  const labels = ['name'] as const;
  const name = (what: string): string => `workqueue_${what}`;
  const made: Families = {
    depth: registry.gaugeFamily({ name: name('depth'), help: 'Current depth of workqueue', labels }),
    adds: registry.counterFamily({
      name: name('adds_total'),
      help: 'Total number of adds handled by workqueue',
      labels,
    }),
    queued: registry.histogramFamily({
      name: name('queue_duration_seconds'),
      help: 'How long in seconds an item stays in workqueue before being requested.',
      labels,
      buckets: BUCKETS_SECONDS,
    }),
    worked: registry.histogramFamily({
      name: name('work_duration_seconds'),
      help: 'How long in seconds processing an item from workqueue takes.',
      labels,
      buckets: BUCKETS_SECONDS,
    }),
    unfinished: registry.gaugeFamily({
      name: name('unfinished_work_seconds'),
      help: "How many seconds of work has done that is in progress and hasn't been observed by work_duration. Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this increases.",
      labels,
    }),
    longest: registry.gaugeFamily({
      name: name('longest_running_processor_seconds'),
      help: 'How many seconds has the longest running processor for workqueue been running.',
      labels,
    }),
    retries: registry.counterFamily({
      name: name('retries_total'),
      help: 'Total number of retries handled by workqueue',
      labels,
    }),
  };
  families.set(registry, made);
  return made;
};

/** What one queue reports; all in seconds of the monotonic clock. */
export class QueueMetrics {
  readonly #clock: Clock;
  readonly #depth: Gauge;
  readonly #adds: Counter;
  readonly #queued: Histogram;
  readonly #worked: Histogram;
  readonly #retries: Counter;
  readonly #addedMs = new Map<string, number>();
  readonly #startedMs = new Map<string, number>();
  readonly #hook: Disposable;

  constructor(registry: Registry, name: string, clock: Clock) {
    const all = familiesOf(registry);
    this.#clock = clock;
    this.#depth = all.depth.labels(name);
    this.#adds = all.adds.labels(name);
    this.#queued = all.queued.labels(name);
    this.#worked = all.worked.labels(name);
    this.#retries = all.retries.labels(name);
    const unfinished = all.unfinished.labels(name);
    const longest = all.longest.labels(name);
    const hook = registry.beforeExpose(() => {
      const running = [...this.#startedMs.values()].map((ms) => (clock.monotonicMs() - ms) / 1000);
      unfinished.set(running.reduce((sum, seconds) => sum + seconds, 0));
      longest.set(Math.max(0, ...running));
    });
    this.#hook = toDisposable(() => hook.dispose());
  }

  added(item: string, depth: number): void {
    this.#adds.inc();
    this.#depth.set(depth);
    if (!this.#addedMs.has(item)) this.#addedMs.set(item, this.#clock.monotonicMs());
  }

  taken(item: string, depth: number): void {
    const nowMs = this.#clock.monotonicMs();
    this.#depth.set(depth);
    this.#queued.observe((nowMs - (this.#addedMs.get(item) ?? nowMs)) / 1000);
    this.#addedMs.delete(item);
    this.#startedMs.set(item, nowMs);
  }

  done(item: string): void {
    const startedMs = this.#startedMs.get(item);
    if (startedMs === undefined) return;
    this.#startedMs.delete(item);
    this.#worked.observe((this.#clock.monotonicMs() - startedMs) / 1000);
  }

  retried(): void {
    this.#retries.inc();
  }

  dispose(): void {
    this.#hook.dispose();
  }
}
