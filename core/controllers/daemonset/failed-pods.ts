import type { Clock } from '../../base/clock.ts';

const DELAY_BASE_MS = 1000;
const DELAY_MS_MAX = 15 * 60_000;
/** Beyond this many, entries that are over are looked for and dropped. */
const ENTRIES_KEPT = 1000;

/** How long a pod that failed stays before it is replaced: doubling for each on the same node, forgotten when it lasts. */
export class FailedPods {
  readonly #clock: Clock;
  readonly #entries = new Map<string, { delayMs: number; sinceMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds to wait; 0 counts as a replacement. */
  untilReplacedMs(key: string): number {
    const nowMs = this.#clock.monotonicMs();
    const held = this.#entries.get(key);
    if (held && nowMs - held.sinceMs < held.delayMs) return held.delayMs - (nowMs - held.sinceMs);
    const isForgotten = !held || nowMs - held.sinceMs > 2 * DELAY_MS_MAX;
    const delayMs = isForgotten ? DELAY_BASE_MS : Math.min(2 * held.delayMs, DELAY_MS_MAX);
    this.#entries.set(key, { delayMs, sinceMs: nowMs });
    if (this.#entries.size > ENTRIES_KEPT) this.#dropOld(nowMs);
    return 0;
  }

  #dropOld(nowMs: number): void {
    for (const [key, { sinceMs }] of this.#entries)
      if (nowMs - sinceMs > 2 * DELAY_MS_MAX) this.#entries.delete(key);
  }
}
