import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposable.ts';
import { tooLarge } from '../errors.ts';

/** Upstream's: how often progress is asked for while somebody waits. */
const PROGRESS_PERIOD_MS = 100;

interface Waiter {
  readonly revision: number;
  readonly done: () => void;
}

/**
 * Readers that wait until the cache has reached a revision. Each has asked etcd for progress before it waits; while there
 * are any, etcd is asked again from time to time.
 */
export class RevisionWaiters {
  readonly #clock: Clock;
  readonly #askProgress: () => void;
  readonly #waiters = new Set<Waiter>();
  #ticker: Disposable | undefined;

  constructor(clock: Clock, askProgress: () => void) {
    this.#clock = clock;
    this.#askProgress = askProgress;
  }

  get size(): number {
    return this.#waiters.size;
  }

  /** Rejects with ResourceVersionTooLarge when the revision is not reached in time. */
  wait(revision: number, limitMs: number, current: () => number): Promise<void> {
    return new Promise((resolve, reject) => {
      const limit = this.#clock.after(limitMs, () => {
        this.#remove(waiter);
        reject(tooLarge(revision, current()));
      });
      const waiter: Waiter = {
        revision,
        done: () => {
          limit.dispose();
          this.#remove(waiter);
          resolve();
        },
      };
      this.#waiters.add(waiter);
      this.#ticker ??= this.#nextTick();
    });
  }

  reached(revision: number): void {
    for (const waiter of [...this.#waiters]) if (waiter.revision <= revision) waiter.done();
  }

  #nextTick(): Disposable {
    return this.#clock.after(PROGRESS_PERIOD_MS, () => {
      this.#askProgress();
      this.#ticker = this.#nextTick();
    });
  }

  #remove(waiter: Waiter): void {
    this.#waiters.delete(waiter);
    if (this.#waiters.size > 0) return;
    this.#ticker?.dispose();
    this.#ticker = undefined;
  }
}
