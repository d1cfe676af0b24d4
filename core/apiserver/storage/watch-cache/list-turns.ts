import type { Clock } from '../../../base/clock.ts';

/** Lists that one turn of the event loop may begin; each is checked against the time below. */
const LISTS_PER_TURN_MAX = 16;
/** No list begins in a turn that has spent this long on lists. */
const TURN_MS_MAX = 2;

/**
 * Spreads lists over turns of the event loop. They are the largest pieces of work of a server, and many wake together
 * when the revision that they wait for is known: without turns, the renewal of a lease would wait for all of them, at
 * each of its steps. First come, first served; waiting ones are as many as requests in flight.
 */
export class ListTurns {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #waiting: (() => void)[] = [];
  #isOpen = false;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Undefined where no other list has begun in this turn: it may begin now. */
  enter(): Promise<void> | undefined {
    if (this.#isOpen) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#isOpen = true;
    this.#openTurn();
    return undefined;
  }

  /** One immediate for each list: what a list does runs to its end before the next one is asked. */
  #openTurn(): void {
    const count = Math.max(1, Math.min(this.#waiting.length, LISTS_PER_TURN_MAX));
    let startMs: number | undefined;
    for (let at = 1; at <= count; at += 1)
      setImmediate(() => {
        const nowMs = this.#clock.monotonicMs();
        startMs ??= nowMs;
        if (nowMs - startMs < TURN_MS_MAX) this.#waiting.shift()?.();
        if (at < count) return;
        if (this.#waiting.length > 0) this.#openTurn();
        else this.#isOpen = false;
      });
  }
}
