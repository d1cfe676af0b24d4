/** Lets an operation be held between its steps by somebody else than who began it. */
export class Hold {
  #isHeld = false;
  #runningCount = 0;
  readonly #waiting = new Set<() => void>();
  readonly #signal: AbortSignal;

  /** Aborted when what is operated on ends: an operation that is held then ends too. */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#wake(), { once: true });
  }

  get isRunning(): boolean {
    return this.#runningCount > 0;
  }

  pause(): void {
    this.#isHeld = true;
  }

  resume(): void {
    this.#isHeld = false;
    this.#wake();
  }

  #wake(): void {
    for (const go of this.#waiting) go();
    this.#waiting.clear();
  }

  /** Waits while it is held. */
  readonly checkpoint = async (): Promise<void> => {
    while (this.#isHeld) {
      this.#signal.throwIfAborted();
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  };

  /** An operation that is over holds no one else up. */
  async during<T>(run: () => Promise<T>): Promise<T> {
    this.#runningCount += 1;
    try {
      return await run();
    } finally {
      this.#runningCount -= 1;
      if (this.#runningCount === 0) this.resume();
    }
  }
}
