/** Work that runs beside the loop, bounded in number. Tasks must not throw: what may fail is handled inside. */
export class BoundedTasks {
  readonly #running = new Set<Promise<void>>();
  readonly #tasksMax: number;

  constructor(tasksMax: number) {
    this.#tasksMax = tasksMax;
  }

  get size(): number {
    return this.#running.size;
  }

  start(task: Promise<void>): void {
    const tracked: Promise<void> = task.finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }

  /** Resolves when there is room for one more. */
  async room(): Promise<void> {
    while (this.#running.size >= this.#tasksMax) await Promise.race(this.#running);
  }

  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }
}
