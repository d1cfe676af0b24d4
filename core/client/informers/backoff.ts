import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';

/** As client-go's reflector: 800 ms to 30 s, up to twice that by jitter, from the start again after two good minutes. */
const FIRST_MS = 800;
const LONGEST_MS = 30_000;
const RESET_AFTER_MS = 120_000;

export class Backoff {
  readonly #clock: Clock;
  readonly #random: Random;
  #nextMs = FIRST_MS;
  #lastMs = -Infinity;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** How long to wait now. */
  next(): number {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#lastMs > RESET_AFTER_MS) this.#nextMs = FIRST_MS;
    const delayMs = this.#nextMs * (1 + this.#random.next());
    this.#nextMs = Math.min(LONGEST_MS, this.#nextMs * 2);
    this.#lastMs = nowMs + delayMs;
    return delayMs;
  }
}
