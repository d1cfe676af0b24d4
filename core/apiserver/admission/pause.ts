import type { Clock } from '../../base/clock.ts';

/** Resolves after `delayMs`. Only for waits that a named bound ends. */
export const pause = (clock: Clock, delayMs: number): Promise<void> =>
  new Promise((resolve) => void clock.after(delayMs, resolve));
