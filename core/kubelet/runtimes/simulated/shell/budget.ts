import type { Clock } from '../../../../base/clock.ts';
import type { Disposable } from '../../../../base/disposable.ts';
import { MEMORY_CHARACTERS_MAX, outOfMemory, PROCESSES_MAX, tooManyProcesses } from './limits.ts';

/** Length of the windows in which steps are counted, as the kernel's CPU quota has it. */
export const WINDOW_MS = 100;
/** Steps of one container in a window: about an eighth of a core. */
export const CONTAINER_STEPS_MAX = 4_000;
/** Steps of all containers of a thread in a window, so that many busy loops together leave the machine its time. */
export const THREAD_STEPS_MAX = 12_000;
/** The event loop gets its turn this often. */
const STEPS_PER_TURN = 64;
/** Text that passes through a command costs as much as a step for so many characters. */
const CHARACTERS_PER_STEP = 256;

/** Steps per window; anyone who has used them up waits for the next one. */
export class StepQuota {
  readonly #clock: Clock;
  readonly #max: number;
  #windowMs = Number.NEGATIVE_INFINITY;
  #used = 0;

  constructor(clock: Clock, max: number) {
    this.#clock = clock;
    this.#max = max;
  }

  /** How long to wait before continuing; 0 when there is some left. */
  take(steps: number): number {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs >= this.#windowMs + WINDOW_MS) {
      // Steps that were taken in advance are paid for in the windows that follow.
      const windows = Math.floor((nowMs - this.#windowMs) / WINDOW_MS);
      this.#used = Number.isFinite(windows) ? Math.max(0, this.#used - windows * this.#max) : 0;
      this.#windowMs = nowMs;
    }
    this.#used += steps;
    if (this.#used < this.#max) return 0;
    return this.#windowMs + WINDOW_MS * Math.ceil(this.#used / this.#max) - nowMs;
  }
}

/** What one container may use: processes, memory, and steps per time. Shared by its program and its exec sessions. */
export class Budget {
  readonly #clock: Clock;
  readonly #own: StepQuota;
  readonly #shared: StepQuota | undefined;
  readonly #onStep: (() => void) | undefined;
  #processes = 0;
  #characters = 0;
  #steps = 0;
  #owed = 0;

  constructor(clock: Clock, options: { readonly shared?: StepQuota; onStep?(): void } = {}) {
    this.#clock = clock;
    this.#own = new StepQuota(clock, CONTAINER_STEPS_MAX);
    this.#shared = options.shared;
    this.#onStep = options.onStep;
  }

  get processes(): number {
    return this.#processes;
  }

  get characters(): number {
    return this.#characters;
  }

  /** Counts processes until the returned function is called. LimitError when there are too many; none counts then. */
  fork(count = 1): () => void {
    if (this.#processes + count > PROCESSES_MAX) throw tooManyProcesses();
    this.#processes += count;
    let isGone = false;
    return () => {
      if (isGone) return;
      isGone = true;
      this.#processes -= count;
    };
  }

  /** LimitError `OutOfMemory` when the container would hold too much; nothing is taken then. */
  take(characters: number): void {
    if (this.#characters + characters > MEMORY_CHARACTERS_MAX) throw outOfMemory();
    this.#characters += characters;
  }

  give(characters: number): void {
    this.#characters -= characters;
  }

  /** Work on text, paid for with the next step. */
  charge(characters: number): void {
    this.#owed += characters / CHARACTERS_PER_STEP;
  }

  /** Counts a step. A promise when the event loop has to have its turn first, or the quota is used up. */
  step(signal: AbortSignal): Promise<void> | undefined {
    this.#onStep?.();
    this.#steps += 1;
    const cost = 1 + Math.floor(this.#owed);
    this.#owed = 0;
    const waitMs = Math.max(this.#own.take(cost), this.#shared?.take(cost) ?? 0);
    if (waitMs > 0) return this.#wait(waitMs, signal);
    return this.#steps % STEPS_PER_TURN === 0 ? new Promise((resolve) => setImmediate(resolve)) : undefined;
  }

  /** Resolves early when the process is killed: its next step ends it. */
  #wait(waitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        timer.dispose();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer: Disposable = this.#clock.after(waitMs, done);
      if (signal.aborted) done();
      else signal.addEventListener('abort', done, { once: true });
    });
  }
}
