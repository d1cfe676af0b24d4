import type { TableRow } from '../../core/contract/index.ts';
import { compareKeys, type SortKey } from './sort-key.ts';

export interface RowOrder {
  readonly keyOf: (row: TableRow) => SortKey;
  readonly isDescending: boolean;
  readonly isShown: (row: TableRow) => boolean;
}

interface Placed {
  readonly row: TableRow;
  readonly sortKey: SortKey;
}

/** Beyond this share of the list, a full sort is cheaper than moving rows one by one. */
const REBUILD_SHARE = 0.1;

/**
 * All rows of a list and, of those, the shown ones in order. A burst of changes moves only what changed: ten
 * thousand rows are sorted once, not ten times a second.
 */
export class SortedRows {
  readonly #all = new Map<string, TableRow>();
  readonly #placed = new Map<string, Placed>();
  #shown: Placed[] = [];
  #order: RowOrder;

  constructor(order: RowOrder) {
    this.#order = order;
  }

  get totalCount(): number {
    return this.#all.size;
  }

  get shownCount(): number {
    return this.#shown.length;
  }

  /** A new array each time, so that a shallow reference sees the change. */
  shown(): TableRow[] {
    return this.#shown.map(({ row }) => row);
  }

  get(key: string): TableRow | undefined {
    return this.#all.get(key);
  }

  values(): Iterable<TableRow> {
    return this.#all.values();
  }

  clear(): void {
    this.#all.clear();
    this.#rebuild();
  }

  setOrder(order: RowOrder): void {
    this.#order = order;
    this.#rebuild();
  }

  change(rows: readonly TableRow[], gone: readonly string[]): void {
    for (const key of gone) this.#all.delete(key);
    for (const row of rows) this.#all.set(row.key, row);
    if (rows.length + gone.length > Math.max(16, this.#all.size * REBUILD_SHARE)) return this.#rebuild();
    for (const key of gone) this.#takeOut(key);
    for (const row of rows) {
      this.#takeOut(row.key);
      if (!this.#order.isShown(row)) continue;
      const placed = { row, sortKey: this.#order.keyOf(row) };
      this.#shown.splice(this.#indexFor(placed), 0, placed);
      this.#placed.set(row.key, placed);
    }
  }

  #rebuild(): void {
    const { isShown, keyOf } = this.#order;
    this.#shown = [];
    this.#placed.clear();
    for (const row of this.#all.values()) {
      if (!isShown(row)) continue;
      const placed = { row, sortKey: keyOf(row) };
      this.#shown.push(placed);
      this.#placed.set(row.key, placed);
    }
    this.#shown.sort((a, b) => this.#compare(a, b));
  }

  #takeOut(key: string): void {
    const placed = this.#placed.get(key);
    if (!placed) return;
    this.#placed.delete(key);
    this.#shown.splice(this.#indexFor(placed), 1);
  }

  /** Where it is, or would be: keys are unique, so the order is total. */
  #indexFor(placed: Placed): number {
    let low = 0;
    let high = this.#shown.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(this.#shown[middle]!, placed) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #compare(a: Placed, b: Placed): number {
    const bySort = compareKeys(a.sortKey, b.sortKey);
    if (bySort !== 0) return this.#order.isDescending ? -bySort : bySort;
    return a.row.key < b.row.key ? -1 : a.row.key > b.row.key ? 1 : 0;
  }
}
