import type { Clock } from '../../base/clock.ts';
import type { Registry } from '../../base/metrics/index.ts';
import { DelayedItems } from './delayed-items.ts';
import { QueueMetrics } from './queue-metrics.ts';
import type { AddOptions, Queue, RateLimiter } from './queue.ts';
import { controllerLimiter } from './rate-limiters.ts';
import { ReadyItems } from './ready-items.ts';

export interface WorkQueueOptions {
  /** The label of its metrics: that of the controller. */
  readonly name: string;
  readonly clock: Clock;
  readonly registry?: Registry;
  readonly rateLimiter?: RateLimiter;
}

/** Its size is bounded by the number of distinct keys: adding a key twice is adding it once. */
export class WorkQueue implements Queue {
  readonly name: string;
  readonly #limiter: RateLimiter;
  readonly #metrics: QueueMetrics | undefined;
  readonly #ready = new ReadyItems();
  readonly #delayed: DelayedItems;
  readonly #processing = new Set<string>();
  /** Added while being processed, with the priority for the next time. */
  readonly #again = new Map<string, number>();
  readonly #takers: ((item: string | undefined) => void)[] = [];
  readonly #drainers: (() => void)[] = [];
  #shuttingDown = false;

  constructor(options: WorkQueueOptions) {
    this.name = options.name;
    this.#limiter = options.rateLimiter ?? controllerLimiter(options.clock);
    this.#metrics = options.registry && new QueueMetrics(options.registry, options.name, options.clock);
    this.#delayed = new DelayedItems(options.clock, (item, priority) => this.add(item, { priority }));
  }

  get size(): number {
    return this.#ready.size;
  }

  get isShuttingDown(): boolean {
    return this.#shuttingDown;
  }

  add(item: string, options?: AddOptions): void {
    if (this.#shuttingDown) return;
    const priority = options?.priority ?? 0;
    if (this.#processing.has(item)) {
      const held = this.#again.get(item);
      if (held === undefined) this.#metrics?.added(item, this.size);
      this.#again.set(item, Math.max(priority, held ?? priority));
      return;
    }
    const isNew = !this.#ready.has(item);
    this.#ready.add(item, priority);
    if (isNew) this.#metrics?.added(item, this.size);
    this.#handOut();
  }

  addAfter(item: string, delayMs: number, options?: AddOptions): void {
    if (this.#shuttingDown) return;
    if (delayMs <= 0) this.add(item, options);
    else this.#delayed.add(item, delayMs, options?.priority ?? 0);
  }

  addRateLimited(item: string, options?: AddOptions): void {
    this.#metrics?.retried();
    this.addAfter(item, this.#limiter.when(item), options);
  }

  forget(item: string): void {
    this.#limiter.forget(item);
  }

  retriesOf(item: string): number {
    return this.#limiter.retriesOf(item);
  }

  take(): Promise<string | undefined> {
    const item = this.#next();
    if (item !== undefined || this.#shuttingDown) return Promise.resolve(item);
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  done(item: string): void {
    if (!this.#processing.delete(item)) return;
    this.#metrics?.done(item);
    const again = this.#again.get(item);
    if (again !== undefined) {
      this.#again.delete(item);
      this.#ready.add(item, again);
      this.#handOut();
    }
    this.#endIfDrained();
  }

  shutDown(): void {
    if (this.#shuttingDown) return;
    this.#shuttingDown = true;
    this.#delayed.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
    this.#endIfDrained();
  }

  drain(): Promise<void> {
    return new Promise((resolve) => {
      this.#drainers.push(resolve);
      this.shutDown();
      this.#endIfDrained();
    });
  }

  #next(): string | undefined {
    const item = this.#ready.shift();
    if (item === undefined) return undefined;
    this.#processing.add(item);
    this.#metrics?.taken(item, this.size);
    return item;
  }

  #handOut(): void {
    while (this.#takers.length > 0) {
      const item = this.#next();
      if (item === undefined) return;
      this.#takers.shift()!(item);
    }
  }

  #endIfDrained(): void {
    if (!this.#shuttingDown || this.#processing.size > 0 || this.#ready.size > 0) return;
    this.#metrics?.dispose();
    for (const drained of this.#drainers.splice(0)) drained();
  }
}
