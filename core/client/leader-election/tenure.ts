import { lastingController } from '../../base/node/lasting-signal.ts';
import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';

/** Why a leadership is over. */
export class TenureOver extends Error {
  override readonly name = 'TenureOver';
}

/** A moment on both clocks. */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export const momentOf = (clock: Clock): Moment => ({
  monotonicMs: clock.monotonicMs(),
  wallMs: clock.nowMs(),
});

/**
 * The time for which leadership may be assumed. `signal` is aborted when it is over, by a timer or by anyone who asks
 * first; it never comes back.
 */
export class Tenure implements Disposable {
  readonly #clock: Clock;
  readonly #deadlineMs: number;
  readonly #controller = lastingController();
  #sent: Moment;
  #timer: Disposable | undefined;

  /** `sent` is from before the request that won the lease was sent. */
  constructor(clock: Clock, deadlineMs: number, sent: Moment) {
    this.#clock = clock;
    this.#deadlineMs = deadlineMs;
    this.#sent = sent;
    this.#arm();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * Also when the wall clock jumps ahead, which it does after sleep: ending too early costs a restart, too late
   * costs two leaders.
   */
  get leftMs(): number {
    const now = momentOf(this.#clock);
    const elapsedMs = Math.max(now.monotonicMs - this.#sent.monotonicMs, now.wallMs - this.#sent.wallMs);
    return Math.max(0, this.#deadlineMs - elapsedMs);
  }

  /** A renewal that was sent at that moment has succeeded. Too late is too late: an ended tenure stays so. */
  renewed(sent: Moment): void {
    this.check();
    if (this.signal.aborted) return;
    this.#sent = sent;
    this.#arm();
    this.check();
  }

  check(): void {
    if (!this.signal.aborted && this.leftMs === 0) this.end('failed to renew the lease in time');
  }

  end(why: string): void {
    this.#timer?.dispose();
    this.#controller.abort(new TenureOver(why));
  }

  dispose(): void {
    this.end('the election was stopped');
  }

  #arm(): void {
    this.#timer?.dispose();
    this.#timer = this.#clock.after(this.leftMs, () => this.#rearm());
  }

  /** Timers may fire a little early; the clock decides. */
  #rearm(): void {
    this.check();
    if (!this.signal.aborted) this.#arm();
  }
}
