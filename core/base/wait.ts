import type { Clock } from './clock.ts';

/** Resolves after `delayMs`, or when the signal ends the wait. */
export const wait = (clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      timer.dispose();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.after(delayMs, end);
    signal.addEventListener('abort', end, { once: true });
  });
