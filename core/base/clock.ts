import type { Disposable } from './disposable.ts';

/**
 * Time as an input. `nowMs` is wall-clock time, which may jump; `monotonicMs` never goes back and is the
 * only one that intervals are measured with.
 */
export interface Clock {
  nowMs(): number;
  monotonicMs(): number;
  /** Calls `run` once after `delayMs` of monotonic time, unless disposed before. */
  after(delayMs: number, run: () => void): Disposable;
}
