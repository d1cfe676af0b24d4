import type { Clock } from '../../base/clock.ts';
import { DisposableStore } from '../../base/disposable.ts';
import { TransportError } from './transport.ts';

export interface RequestScopeSignals {
  readonly caller?: AbortSignal | undefined;
  readonly fence?: AbortSignal | undefined;
  /** Ends also what is on the wire and outlives the fence. Without it nothing does. */
  readonly fenceEnd?: AbortSignal | undefined;
}

/**
 * The life of one request: ends by the caller's signal, by the fence, or by its deadline, whichever is first.
 * Listeners are taken off again at the end, because the signals of components outlive thousands of requests.
 *
 * While a request is `held`, because it was sent and must be answered, the fence does not end it; the caller may still
 * go its way, but what is on the wire stays there.
 */
export class RequestScope {
  readonly #controller = new AbortController();
  readonly #wire: AbortController;
  readonly #signals: RequestScopeSignals;
  readonly #listening = new DisposableStore();
  #deadline: { dispose(): void } | undefined;
  #isHeld = false;
  #isOnWire = false;
  #isDisposed = false;

  constructor(signals: RequestScopeSignals) {
    this.#signals = signals;
    const { caller, fence, fenceEnd } = signals;
    this.#wire = fenceEnd ? new AbortController() : this.#controller;
    this.#listen(caller, ({ reason }) => {
      this.#controller.abort(reason);
      if (!this.#isHeld) this.#wire.abort(reason);
    });
    this.#listen(fence, ({ reason }) => {
      if (!this.#isHeld) this.#abort(reason);
    });
    this.#listen(fenceEnd, ({ reason }) => this.#abort(reason));
  }

  /** For anyone who waits for the answer. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** For anyone who carries the request. */
  get wireSignal(): AbortSignal {
    return this.#wire.signal;
  }

  hold(): void {
    this.#isHeld = true;
    this.#isOnWire = true;
  }

  /** The one that is held has its answer, or never will. */
  offWire(): void {
    this.#isOnWire = false;
    if (this.#isDisposed) this.#dispose();
  }

  /** It is about to be tried again: what happened to the fence meanwhile happens now. */
  letGo(): void {
    this.#isHeld = false;
    const { fence } = this.#signals;
    if (fence?.aborted) this.#abort(fence.reason);
  }

  startDeadline(clock: Clock, timeoutMs: number, what: string): void {
    this.#deadline = clock.after(timeoutMs, () =>
      this.#abort(
        new TransportError('TimedOut', `${what} timed out after ${timeoutMs} ms`, {
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

  /** What is still on the wire can be ended until it is off it. */
  dispose(): void {
    this.#isDisposed = true;
    if (!this.#isOnWire) this.#dispose();
  }

  #dispose(): void {
    this.endDeadline();
    this.#listening.dispose();
  }

  #abort(reason: unknown): void {
    this.#controller.abort(reason);
    this.#wire.abort(reason);
  }

  #listen(signal: AbortSignal | undefined, onAbort: (signal: AbortSignal) => void): void {
    if (!signal) return;
    if (signal.aborted) {
      onAbort(signal);
      return;
    }
    const listener = (): void => onAbort(signal);
    signal.addEventListener('abort', listener, { once: true });
    this.#listening.defer(() => signal.removeEventListener('abort', listener));
  }
}
