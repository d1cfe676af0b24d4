/**
 * Gives each list a turn of the event loop. They are the largest pieces of work of a server, and many wake together
 * when the revision that they wait for is known: without turns, the renewal of a lease would wait for all of them, at
 * each of its steps. First come, first served; waiting ones are as many as requests in flight.
 */
export class ListTurns {
  readonly #waiting: (() => void)[] = [];
  #isOpen = false;

  /** Undefined where no other list has begun in this turn: it may begin now. */
  enter(): Promise<void> | undefined {
    if (this.#isOpen) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#isOpen = true;
    this.#openTurn();
    return undefined;
  }

  /** An immediate that is made by one runs after the next look at connections. */
  #openTurn(): void {
    setImmediate(() => {
      const begin = this.#waiting.shift();
      this.#isOpen = begin !== undefined;
      if (begin === undefined) return;
      this.#openTurn();
      begin();
    });
  }
}
