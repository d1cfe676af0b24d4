import { lastingController } from '../../base/node/lasting-signal.ts';

/**
 * Changes that were sent and have no answer yet. One that is given up here may still lie unread at a busy server and
 * be done later: anyone who hands the lead over in good order waits for the answers instead.
 */
export class UnansweredWrites {
  readonly #end = lastingController();
  #count = 0;
  #waiting: (() => void)[] = [];

  get count(): number {
    return this.#count;
  }

  /** Aborted when no one waits for the answers any more. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** One was sent; what is returned says, once, that it was answered or has failed. */
  sent(): () => void {
    this.#count += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#count -= 1;
      if (this.#count > 0) return;
      for (const wake of this.#waiting.splice(0)) wake();
    };
  }

  /** Resolves when none is left; as `end` leaves none, no later than that. */
  settled(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Gives up what is in progress; all who send learn it from the signal. */
  end(reason: unknown): void {
    this.#end.abort(reason);
  }
}
