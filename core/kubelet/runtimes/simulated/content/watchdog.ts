import type { Clock } from '../../../../base/clock.ts';
import type { Disposable } from '../../../../base/disposable.ts';

export const PING_MS = 5_000;
/** Pings in a row without an answer. They are counted, not timed: a process that was paused has missed one. */
export const MISSED_PINGS_MAX = 3;

/** Finds a thread that does not come back to its event loop. */
export class Watchdog implements Disposable {
  readonly #clock: Clock;
  readonly #options: { ping(id: number): void; onHang(silentMs: number): void };
  #timer: Disposable;
  #id = 0;
  #missed = 0;

  constructor(clock: Clock, options: { ping(id: number): void; onHang(silentMs: number): void }) {
    this.#clock = clock;
    this.#options = options;
    this.#timer = clock.after(PING_MS, () => this.#tick());
  }

  pong(id: number): void {
    if (id === this.#id) this.#missed = 0;
  }

  dispose(): void {
    this.#timer.dispose();
  }

  #tick(): void {
    if (this.#missed >= MISSED_PINGS_MAX) return this.#options.onHang(MISSED_PINGS_MAX * PING_MS);
    this.#missed += 1;
    this.#id += 1;
    this.#timer = this.#clock.after(PING_MS, () => this.#tick());
    this.#options.ping(this.#id);
  }
}
