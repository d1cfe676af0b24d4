import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Random } from '../../base/random.ts';

/** No one sleeps longer at a time: what began meanwhile (a read, a proposal) is looked after within so many ticks. */
export const TICKS_ASLEEP_MAX = 4;

export interface TickerOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly tickMs: number;
  /** Ticks until one does more than count; at least one. */
  ticksUntilDue(): number;
  /** Somebody waits for something that is looked after once a tick. */
  isBusy(): boolean;
  /** One tick of Raft. */
  tick(): void;
  /** After the ticks of one awakening, and how late it came. */
  awake(nowMs: number, lateMs: number): void;
}

/**
 * Raft's ticks without a timer for each: a follower that hears its leader has nothing to do at most of them, and a
 * member at rest is awakenings before all. Ticks that have passed are counted before a message is, so that Raft
 * sees the same order as if it had been awake.
 */
export class Ticker implements Disposable {
  readonly #options: TickerOptions;
  #countedMs = 0;
  #plannedTicks = 0;
  #timer: Disposable | undefined;
  #isDisposed = false;

  constructor(options: TickerOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock, random, tickMs } = this.#options;
    // Members that start together do not tick together.
    this.#countedMs = clock.monotonicMs() - tickMs * random.next();
    this.#sleep();
  }

  /** Must be called before an input that restarts a Raft timeout. The tick that is due is left to the timer. */
  catchUp(): void {
    if (this.#timer === undefined) return;
    const { clock, tickMs, ticksUntilDue } = this.#options;
    const nowMs = clock.monotonicMs();
    const passed = Math.floor((nowMs - this.#countedMs) / tickMs);
    if (passed === 0) return;
    const ticks = Math.min(passed, this.#plannedTicks, ticksUntilDue() - 1);
    const isLate = passed > this.#plannedTicks;
    this.#countedMs = isLate ? nowMs : this.#countedMs + ticks * tickMs;
    this.#plannedTicks -= ticks;
    this.#tick(ticks);
    if (isLate) this.#sleep();
  }

  /** Raft has another role, whose waits begin now: ticks that have passed are none of theirs. */
  restart(): void {
    if (this.#timer === undefined) return;
    const { clock, tickMs } = this.#options;
    this.#countedMs += Math.floor((clock.monotonicMs() - this.#countedMs) / tickMs) * tickMs;
    this.#sleep();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.dispose();
    this.#timer = undefined;
  }

  #wake(): void {
    const { clock, tickMs, awake } = this.#options;
    const nowMs = clock.monotonicMs();
    const dueMs = this.#countedMs + this.#plannedTicks * tickMs;
    // A process that slept must not make up for it: the ticks it missed say nothing about its leader.
    this.#countedMs = nowMs - dueMs > tickMs ? nowMs : dueMs;
    this.#tick(this.#plannedTicks);
    awake(nowMs, nowMs - dueMs);
    this.#sleep();
  }

  #tick(ticks: number): void {
    for (let done = 0; done < ticks && !this.#isDisposed; done += 1) this.#options.tick();
  }

  #sleep(): void {
    if (this.#isDisposed) return;
    const { clock, tickMs, ticksUntilDue, isBusy } = this.#options;
    this.#timer?.dispose();
    this.#plannedTicks = isBusy() ? 1 : Math.min(ticksUntilDue(), TICKS_ASLEEP_MAX);
    const dueMs = this.#countedMs + this.#plannedTicks * tickMs;
    this.#timer = clock.after(Math.max(0, dueMs - clock.monotonicMs()), () => this.#wake());
  }
}
