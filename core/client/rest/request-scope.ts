import type { Clock } from '../../base/clock.ts';
import { DisposableStore } from '../../base/disposable.ts';
import { TransportError } from './transport.ts';

/**
 * The life of one request: ends by the caller's signal, by the fence, or by its deadline, whichever is first.
 * Listeners are taken off again at the end, because the signals of components outlive thousands of requests.
 */
export class RequestScope {
  readonly #controller = new AbortController();
  readonly #held = new DisposableStore();
  #deadline: { dispose(): void } | undefined;

  constructor(signals: readonly (AbortSignal | undefined)[]) {
    for (const signal of signals) {
      if (!signal) continue;
      if (signal.aborted) {
        this.#controller.abort(signal.reason);
        continue;
      }
      const onAbort = (): void => this.#controller.abort(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      this.#held.defer(() => signal.removeEventListener('abort', onAbort));
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  startDeadline(clock: Clock, timeoutMs: number, what: string): void {
    this.#deadline = clock.after(timeoutMs, () =>
      this.#controller.abort(
        new TransportError('TimedOut', `${what} was not answered in ${timeoutMs} ms`, {
          maybeProcessed: true,
        }),
      ),
    );
  }

  endDeadline(): void {
    this.#deadline?.dispose();
    this.#deadline = undefined;
  }

  throwIfOver(): void {
    if (this.signal.aborted) throw this.signal.reason;
  }

  dispose(): void {
    this.endDeadline();
    this.#held.dispose();
  }
}
