/** Requests that wait for their entry to be applied, or for their turn to be read. */
export interface Waiter<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

interface Pending<T> extends Waiter<T> {
  readonly deadlineMs: number;
}

/**
 * A bounded table of waiting requests with one and the same time limit. Because the limit is constant the
 * table is in order of deadlines, so looking for late ones costs nothing and no request needs a timer.
 */
export class PendingRequests<T> {
  readonly #limitMs: number;
  readonly #countMax: number;
  readonly #waiting = new Map<number, Pending<T>>();

  constructor(options: { limitMs: number; countMax: number }) {
    this.#limitMs = options.limitMs;
    this.#countMax = options.countMax;
  }

  get size(): number {
    return this.#waiting.size;
  }

  get isFull(): boolean {
    return this.#waiting.size >= this.#countMax;
  }

  has(key: number): boolean {
    return this.#waiting.has(key);
  }

  add(key: number, nowMs: number, waiter: Waiter<T>): void {
    this.#waiting.set(key, {
      resolve: (value) => waiter.resolve(value),
      reject: (error) => waiter.reject(error),
      deadlineMs: nowMs + this.#limitMs,
    });
  }

  /** Removes and returns who waits under this key; undefined when it gave up, or never was ours. */
  take(key: number): Waiter<T> | undefined {
    const pending = this.#waiting.get(key);
    if (pending) this.#waiting.delete(key);
    return pending;
  }

  rejectLate(nowMs: number, error: () => unknown): void {
    for (const [key, pending] of this.#waiting) {
      if (pending.deadlineMs > nowMs) return;
      this.#waiting.delete(key);
      pending.reject(error());
    }
  }

  rejectAll(error: () => unknown): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const pending of waiting) pending.reject(error());
  }
}
