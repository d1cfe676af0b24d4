import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposable.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';

const RETRY_MS_MIN = 50;
const RETRY_MS_MAX = 60_000;

export interface KeyedQueueOptions {
  /** Keys that are worked on at the same time; one key never is twice. */
  readonly workers: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Level-triggered: looks at what is there now. What it throws is tried again later. */
  readonly sync: (key: string) => Promise<void>;
}

/** Keys to look at, each at most once at a time. Bounded by the number of objects, which are its keys. */
export class KeyedQueue implements Disposable {
  readonly #options: KeyedQueueOptions;
  readonly #waiting = new Set<string>();
  readonly #running = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #timers = new Map<string, Disposable>();
  #isClosed = false;

  constructor(options: KeyedQueueOptions) {
    this.#options = options;
  }

  add(key: string): void {
    if (this.#isClosed) return;
    this.#waiting.add(key);
    this.#start();
  }

  dispose(): void {
    this.#isClosed = true;
    this.#waiting.clear();
    for (const timer of this.#timers.values()) timer.dispose();
    this.#timers.clear();
  }

  #start(): void {
    for (const key of this.#waiting) {
      if (this.#isClosed || this.#running.size >= this.#options.workers) return;
      if (this.#running.has(key)) continue;
      this.#waiting.delete(key);
      this.#running.add(key);
      void this.#work(key);
    }
  }

  async #work(key: string): Promise<void> {
    try {
      await this.#options.sync(key);
      this.#failures.delete(key);
    } catch (error) {
      this.#retry(key, error);
    } finally {
      this.#running.delete(key);
      this.#start();
    }
  }

  #retry(key: string, error: unknown): void {
    const { clock, log } = this.#options;
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    if (this.#isClosed) return;
    log.write('warn', 'a custom resource definition could not be updated', { key, error: messageOf(error) });
    const delayMs = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** failures);
    this.#timers.get(key)?.dispose();
    this.#timers.set(
      key,
      clock.after(delayMs, () => {
        this.#timers.delete(key);
        this.add(key);
      }),
    );
  }
}
