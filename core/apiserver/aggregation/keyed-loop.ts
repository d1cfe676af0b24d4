import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';

export interface KeyedLoopOptions {
  readonly clock: Clock;
  /** Does what is due for a key; a failure is repeated later. */
  work(key: string): Promise<void>;
  /** After a success; absent: only when it is woken. */
  readonly againMs?: number;
  readonly retryMsMin: number;
  readonly retryMsMax: number;
  readonly atOnceMax: number;
}

interface Entry {
  isRunning: boolean;
  isDirty: boolean;
  failures: number;
  timer: Disposable | undefined;
}

/** Works on keys, each of them never twice at a time: when woken, again after a pause, and with back-off after a failure. */
export class KeyedLoop implements Disposable {
  readonly #options: KeyedLoopOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #due = new Set<string>();
  #running = 0;
  #isClosed = false;

  constructor(options: KeyedLoopOptions) {
    this.#options = options;
  }

  wake(key: string): void {
    if (this.#isClosed) return;
    const entry = this.#entries.get(key) ?? {
      isRunning: false,
      isDirty: false,
      failures: 0,
      timer: undefined,
    };
    this.#entries.set(key, entry);
    entry.timer?.dispose();
    entry.timer = undefined;
    if (entry.isRunning) {
      entry.isDirty = true;
      return;
    }
    this.#due.add(key);
    this.#next();
  }

  /** Work that runs ends on its own; nothing follows it. */
  forget(key: string): void {
    this.#entries.get(key)?.timer?.dispose();
    this.#entries.delete(key);
    this.#due.delete(key);
  }

  dispose(): void {
    this.#isClosed = true;
    for (const key of [...this.#entries.keys()]) this.forget(key);
  }

  #next(): void {
    for (const key of this.#due) {
      if (this.#running >= this.#options.atOnceMax) return;
      this.#due.delete(key);
      const entry = this.#entries.get(key);
      if (entry) void this.#run(key, entry);
    }
  }

  async #run(key: string, entry: Entry): Promise<void> {
    const { work, againMs } = this.#options;
    entry.isRunning = true;
    entry.isDirty = false;
    this.#running += 1;
    let pauseMs = againMs;
    try {
      await work(key);
      entry.failures = 0;
    } catch {
      // The work reports its failures itself; here they only decide when it is repeated.
      pauseMs = this.#retryMs(entry.failures);
      entry.failures += 1;
    }
    entry.isRunning = false;
    this.#running -= 1;
    if (this.#entries.get(key) === entry) {
      if (entry.isDirty) this.#due.add(key);
      else if (pauseMs !== undefined)
        entry.timer = this.#options.clock.after(pauseMs, () => {
          entry.timer = undefined;
          this.wake(key);
        });
    }
    this.#next();
  }

  #retryMs(failures: number): number {
    const { retryMsMin, retryMsMax } = this.#options;
    return Math.min(retryMsMax, retryMsMin * 2 ** Math.min(failures, 30));
  }
}
