import type { Clock } from '../../../base/clock.ts';
import { toDisposable } from '../../../base/disposable.ts';

/** Time that passes only when told to. */
export class FakeClock implements Clock {
  #nowMs = 0;
  #timers: { readonly atMs: number; readonly run: () => void }[] = [];

  nowMs(): number {
    return this.#nowMs;
  }
  monotonicMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, run: () => void): ReturnType<Clock['after']> {
    const timer = { atMs: this.#nowMs + delayMs, run };
    this.#timers.push(timer);
    return toDisposable(() => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    });
  }

  /** Runs what is due, each with the promises it settles, until nothing is. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      await settle();
      const due = this.#timers.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      this.#nowMs = Math.max(this.#nowMs, due.atMs);
      due.run();
    }
    this.#nowMs = untilMs;
  }
}

const SETTLE_TURNS = 12;
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < SETTLE_TURNS; turn += 1) await Promise.resolve();
};
