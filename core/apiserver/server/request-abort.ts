/** Why a request ended early, if it did. Most requests are never asked, so the costly signal is made for who asks. */
export class RequestAbort {
  readonly #onAbort: () => void;
  #controller: AbortController | undefined;
  #reason: unknown;
  #aborted = false;

  /** `onAbort` runs once, before listeners of the signal. */
  constructor(onAbort: () => void) {
    this.#onAbort = onAbort;
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    this.#onAbort();
    this.#controller?.abort(reason);
  }
}
