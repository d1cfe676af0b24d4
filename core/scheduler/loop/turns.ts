/** Runs what it is given one after the other. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  take<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(run, run);
    // The next turn waits for this one but does not inherit its failure.
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
