import type { Clock } from '../../base/clock.ts';
import { assert } from '../../base/assert.ts';

/** Tokens that refill evenly: `burst` immediately, `qps` a second on average. Debt is allowed and is waited for. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #refilledMs: number;

  constructor(options: { readonly clock: Clock; readonly qps: number; readonly burst: number }) {
    assert(options.qps > 0 && options.burst > 0, 'a token bucket needs a rate and a burst');
    this.#clock = options.clock;
    this.#perMs = options.qps / 1000;
    this.#burst = options.burst;
    this.#tokens = options.burst;
    this.#refilledMs = options.clock.monotonicMs();
  }

  /** Takes a token, also one that is yet to come, and says how long to wait for it. */
  reserveMs(): number {
    this.#refill();
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs;
  }

  /** Takes a token if there is one. */
  tryTake(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Gives back a token that was reserved and not used. */
  giveBack(): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + 1);
  }

  #refill(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#refilledMs) * this.#perMs);
    this.#refilledMs = nowMs;
  }
}
