import type { Clock } from '../../base/clock.ts';
import { ReasonError } from '../../base/errors.ts';
import { pause } from '../../client/index.ts';

/** What changes hosts as a whole: two at a time would each count on the other's hosts. */
export class OneAtATime {
  #current: { readonly what: string; readonly ended: Promise<void> } | undefined;

  get isBusy(): boolean {
    return this.#current !== undefined;
  }

  async run<T>(what: string, run: () => Promise<T>): Promise<T> {
    if (this.#current !== undefined)
      throw new ReasonError('Busy', `${this.#current.what} is in progress; wait until it finishes`);
    let end: () => void = () => undefined;
    this.#current = { what, ended: new Promise((resolve) => (end = resolve)) };
    try {
      return await run();
    } finally {
      this.#current = undefined;
      end();
    }
  }

  /** Resolves when nothing is in progress, or after the time. */
  async idle(clock: Clock, limitMs: number): Promise<void> {
    if (this.#current === undefined) return;
    const late = new AbortController();
    const limit = pause(clock, limitMs, late.signal).catch(() => undefined);
    await Promise.race([this.#current.ended, limit]);
    late.abort();
  }
}
