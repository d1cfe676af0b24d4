import type { Clock } from '../../core/base/clock.ts';

/** So many crashes within the span and the page is not loaded again on its own. */
export const CRASHES_MAX = 3;
export const CRASH_SPAN_MS = 5 * 60_000;

/** Decides whether a crashed page is loaded again: a page that dies immediately must not do so for ever. */
export const createCrashBudget = (clock: Pick<Clock, 'monotonicMs'>): { mayReload(): boolean } => {
  let crashesAtMs: number[] = [];
  return {
    mayReload() {
      const now = clock.monotonicMs();
      crashesAtMs = [...crashesAtMs.filter((atMs) => now - atMs < CRASH_SPAN_MS), now].slice(
        -CRASHES_MAX - 1,
      );
      return crashesAtMs.length <= CRASHES_MAX;
    },
  };
};
