import type { Clock } from './clock.ts';
import { toDisposable } from './disposable.ts';

/** 2026-01-01T00:00:00Z */
const MANUAL_CLOCK_START_MS = 1_767_225_600_000;

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** A clock that moves only when told: time for tests and simulations. */
export interface ManualClock extends Clock {
  /** Moves time on and runs what is due on the way, in order of due time. */
  advance(durationMs: number): void;
  readonly pendingCount: number;
}

export const manualClock = (startMs = MANUAL_CLOCK_START_MS): ManualClock => {
  const timers = new Set<Timer>();
  let elapsedMs = 0;
  let lastOrder = 0;

  const nextDue = (untilMs: number): Timer | undefined =>
    [...timers]
      .filter((timer) => timer.dueMs <= untilMs)
      .sort((a, b) => a.dueMs - b.dueMs || a.order - b.order)[0];

  return {
    nowMs: () => startMs + elapsedMs,
    monotonicMs: () => elapsedMs,
    after(delayMs, run) {
      const timer = { dueMs: elapsedMs + Math.max(0, delayMs), order: (lastOrder += 1), run };
      timers.add(timer);
      return toDisposable(() => timers.delete(timer));
    },
    advance(durationMs) {
      const untilMs = elapsedMs + durationMs;
      for (let timer = nextDue(untilMs); timer; timer = nextDue(untilMs)) {
        timers.delete(timer);
        elapsedMs = timer.dueMs;
        timer.run();
      }
      elapsedMs = untilMs;
    },
    get pendingCount() {
      return timers.size;
    },
  };
};
