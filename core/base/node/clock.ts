import type { Clock } from '../clock.ts';
import { toDisposable, type Disposable } from '../disposable.ts';

let skewMs = 0;

/** For rehearsals: the wall clock of this thread is off by this much from now on. Intervals are not. */
export const skewSystemClock = (offsetMs: number): void => {
  skewMs = offsetMs;
};

/** Timers count milliseconds in 31 bits: a longer delay would fire after one. */
const TIMER_MS_MAX = 2 ** 31 - 1;

const afterLong = (delayMs: number, run: () => void): Disposable => {
  const dueMs = performance.now() + delayMs;
  let timer: NodeJS.Timeout;
  const arm = (): void => {
    const leftMs = dueMs - performance.now();
    timer = leftMs > TIMER_MS_MAX ? setTimeout(arm, TIMER_MS_MAX) : setTimeout(run, leftMs);
  };
  arm();
  return toDisposable(() => clearTimeout(timer));
};

export const systemClock: Clock = {
  nowMs: () => Date.now() + skewMs,
  monotonicMs: () => performance.now(),
  after(delayMs, run) {
    if (delayMs > TIMER_MS_MAX) return afterLong(delayMs, run);
    const timer = setTimeout(run, delayMs);
    return toDisposable(() => clearTimeout(timer));
  },
};
