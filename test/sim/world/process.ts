import type { Clock } from '../../../core/base/clock.ts';
import type { EventOwner, Timeline } from './timeline.ts';

/** 2026-01-01T00:00:00Z */
const WALL_START_MS = 1_767_225_600_000;

/** One life of a member: from its start to its crash. Whatever belongs to it is dead with it. */
export class Process implements EventOwner {
  readonly #timeline: Timeline;
  #kept: (() => void)[] = [];
  isAlive = true;
  isFrozen = false;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  keep(run: () => void): void {
    this.#kept.push(run);
  }

  kill(): void {
    this.isAlive = false;
    this.#kept = [];
  }

  /** As SIGSTOP: timers and messages that come meanwhile wait. */
  freeze(): void {
    this.isFrozen = true;
  }

  thaw(): void {
    this.isFrozen = false;
    for (const run of this.#kept.splice(0)) this.#timeline.after(0, run, this);
  }
}

/** How the clock of a machine differs from true time. */
export interface ClockFault {
  /** Seconds it counts in a true second. */
  readonly rate: number;
  /** Wall-clock time only: intervals are never measured with it. */
  wallOffsetMs: number;
}

export const processClock = (timeline: Timeline, process: Process, fault: ClockFault): Clock => {
  const monotonicMs = (): number => timeline.nowMs * fault.rate;
  return {
    monotonicMs,
    nowMs: () => WALL_START_MS + fault.wallOffsetMs + monotonicMs(),
    after: (delayMs, run) => timeline.after(delayMs / fault.rate, run, process),
  };
};
