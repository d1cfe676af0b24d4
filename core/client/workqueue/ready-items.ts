/** Items by priority, higher first, and in the order of their adding within one. */
export class ReadyItems {
  readonly #lanes = new Map<number, Set<string>>();
  readonly #priorities = new Map<string, number>();
  /** Highest first. Controllers use a handful of priorities. */
  #order: number[] = [];

  get size(): number {
    return this.#priorities.size;
  }

  has(item: string): boolean {
    return this.#priorities.has(item);
  }

  /** An item that is there already moves up if its new priority is higher, and else stays where it is. */
  add(item: string, priority: number): void {
    const held = this.#priorities.get(item);
    if (held !== undefined && held >= priority) return;
    if (held !== undefined) this.#lanes.get(held)!.delete(item);
    this.#priorities.set(item, priority);
    let lane = this.#lanes.get(priority);
    if (!lane) {
      lane = new Set();
      this.#lanes.set(priority, lane);
      this.#order = [...this.#lanes.keys()].sort((a, b) => b - a);
    }
    lane.add(item);
  }

  shift(): string | undefined {
    for (const priority of this.#order) {
      const lane = this.#lanes.get(priority)!;
      for (const item of lane) {
        lane.delete(item);
        this.#priorities.delete(item);
        return item;
      }
    }
    return undefined;
  }
}
