import type { LabelColumn } from '../../cache/label-columns.ts';
import type { Snapshot } from '../../cache/snapshot.ts';

/** A number for each value of some topology labels. */
export class TopologyCounts {
  readonly #snapshot: Snapshot;
  readonly #byKey = new Map<string, { readonly column: LabelColumn; readonly counts: Float64Array }>();
  #sum = 0;
  /** True once anything was counted on a node that has the label. */
  isTouched = false;

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  get keys(): readonly string[] {
    return [...this.#byKey.keys()];
  }

  /** The sum over all values: zero says that nothing is counted anywhere. */
  get sum(): number {
    return this.#sum;
  }

  add(key: string, slot: number, amount: number): void {
    let entry = this.#byKey.get(key);
    if (!entry) {
      const column = this.#snapshot.labels.column(key);
      entry = { column, counts: new Float64Array(column.idBound) };
      this.#byKey.set(key, entry);
    }
    const id = entry.column.ids[slot]!;
    if (id === 0) return;
    entry.counts[id]! += amount;
    this.#sum += amount;
    this.isTouched = true;
  }

  /** Undefined where the node lacks the label. */
  at(key: string, slot: number): number | undefined {
    const entry = this.#byKey.get(key);
    if (!entry) return this.#snapshot.labels.column(key).ids[slot] === 0 ? undefined : 0;
    const id = entry.column.ids[slot]!;
    return id === 0 ? undefined : entry.counts[id]!;
  }

  anyPositive(slot: number): boolean {
    for (const { column, counts } of this.#byKey.values()) {
      const id = column.ids[slot]!;
      if (id !== 0 && counts[id]! > 0) return true;
    }
    return false;
  }

  addTo(slots: Int32Array, scores: Float64Array): void {
    for (const { column, counts } of this.#byKey.values())
      for (let at = 0; at < slots.length; at += 1) {
        const id = column.ids[slots[at]!]!;
        if (id !== 0) scores[at]! += counts[id]!;
      }
  }
}
