import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';

interface Delayed {
  readonly dueMs: number;
  readonly priority: number;
  readonly timer: Disposable;
}

/** Items that come later; each once, at its earliest time. */
export class DelayedItems {
  readonly #clock: Clock;
  readonly #ready: (item: string, priority: number) => void;
  readonly #items = new Map<string, Delayed>();

  constructor(clock: Clock, ready: (item: string, priority: number) => void) {
    this.#clock = clock;
    this.#ready = ready;
  }

  get size(): number {
    return this.#items.size;
  }

  add(item: string, delayMs: number, priority: number): void {
    const dueMs = this.#clock.monotonicMs() + delayMs;
    const held = this.#items.get(item);
    if (held && held.dueMs <= dueMs && held.priority >= priority) return;
    held?.timer.dispose();
    const earliestMs = Math.min(dueMs, held?.dueMs ?? dueMs);
    const highest = Math.max(priority, held?.priority ?? priority);
    const timer = this.#clock.after(earliestMs - this.#clock.monotonicMs(), () => {
      this.#items.delete(item);
      this.#ready(item, highest);
    });
    this.#items.set(item, { dueMs: earliestMs, priority: highest, timer });
  }

  clear(): void {
    for (const { timer } of this.#items.values()) timer.dispose();
    this.#items.clear();
  }
}
