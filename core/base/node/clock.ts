import type { Clock } from '../clock.ts';
import { toDisposable } from '../disposable.ts';

let skewMs = 0;

/** For rehearsals: the wall clock of this thread is off by this much from now on. Intervals are not. */
export const skewSystemClock = (offsetMs: number): void => {
  skewMs = offsetMs;
};

export const systemClock: Clock = {
  nowMs: () => Date.now() + skewMs,
  monotonicMs: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return toDisposable(() => clearTimeout(timer));
  },
};
