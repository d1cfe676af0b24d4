import type { Status } from './status.ts';

/** What rejected nodes answered, by slot. Filled while nodes are searched, thousands at a time: plain arrays. */
export class NodeStatuses {
  readonly #slots: number[] = [];
  readonly #statuses: Status[] = [];
  #bySlot: Map<number, Status> | undefined;

  /** Each slot is added once. */
  add(slot: number, status: Status): void {
    this.#slots.push(slot);
    this.#statuses.push(status);
    this.#bySlot?.set(slot, status);
  }

  get size(): number {
    return this.#slots.length;
  }

  get(slot: number): Status | undefined {
    this.#bySlot ??= new Map(this.#slots.map((at, index) => [at, this.#statuses[index]!]));
    return this.#bySlot.get(slot);
  }

  /** How many nodes gave each answer. */
  histogram(): ReadonlyMap<Status, number> {
    const counts = new Map<Status, number>();
    for (const status of this.#statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
    return counts;
  }

  forEach(see: (slot: number, status: Status) => void): void {
    for (let at = 0; at < this.#slots.length; at += 1) see(this.#slots[at]!, this.#statuses[at]!);
  }
}
