import type { Clock } from '../../base/clock.ts';
import { type Said, SaidError, say } from '../../contract/index.ts';
import { pause } from '../../client/index.ts';

/** What changes hosts as a whole: two at a time would each count on the other's hosts. */
export class OneAtATime {
  #current: { readonly what: Said; readonly ended: Promise<void> } | undefined;

  get isBusy(): boolean {
    return this.#current !== undefined;
  }

  async run<T>(what: Said, run: () => Promise<T>): Promise<T> {
    if (this.#current !== undefined)
      throw new SaidError('Busy', say('failure.exclusive', { what: this.#current.what }));
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
