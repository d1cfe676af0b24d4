import type { Labels } from '../../api/selector/index.ts';

/** Label keys that pods select nodes by or spread over; the least recently asked one goes first. */
export const LABEL_COLUMNS_MAX = 256;
/** Values that no node has any more are dropped once they outnumber the nodes this many times. */
const STALE_VALUES_FACTOR = 4;
const STALE_VALUES_SLACK = 1024;

/** The value ids of one label on every node slot. Id 0 says that the node has no such label. */
export interface LabelColumn {
  readonly key: string;
  ids: Int32Array;
  /** One more than the greatest id in use: the length of a table indexed by id. */
  idBound: number;
  readonly idOf: Map<string, number>;
}

/** Columns appear when a label is first asked for and are kept up to date from then on. */
export class LabelColumns {
  readonly #columns = new Map<string, LabelColumn>();
  readonly #labelsOf: (slot: number) => Labels | undefined;
  #capacity = 0;

  constructor(labelsOf: (slot: number) => Labels | undefined) {
    this.#labelsOf = labelsOf;
  }

  grow(capacity: number): void {
    if (capacity <= this.#capacity) return;
    this.#capacity = capacity;
    for (const column of this.#columns.values()) {
      const ids = new Int32Array(capacity);
      ids.set(column.ids);
      column.ids = ids;
    }
  }

  column(key: string): LabelColumn {
    const known = this.#columns.get(key);
    if (known) {
      if (this.#columns.size === LABEL_COLUMNS_MAX) {
        this.#columns.delete(key);
        this.#columns.set(key, known);
      }
      return known;
    }
    const column: LabelColumn = { key, ids: new Int32Array(this.#capacity), idBound: 1, idOf: new Map() };
    this.#fill(column);
    if (this.#columns.size >= LABEL_COLUMNS_MAX) {
      const [oldest] = this.#columns.keys();
      if (oldest !== undefined) this.#columns.delete(oldest);
    }
    this.#columns.set(key, column);
    return column;
  }

  setNode(slot: number, labels: Labels | undefined): void {
    for (const column of this.#columns.values()) {
      column.ids[slot] = idFor(column, labels?.[column.key]);
      if (column.idOf.size > this.#capacity * STALE_VALUES_FACTOR + STALE_VALUES_SLACK) {
        column.idOf.clear();
        column.idBound = 1;
        this.#fill(column);
      }
    }
  }

  #fill(column: LabelColumn): void {
    for (let slot = 0; slot < this.#capacity; slot += 1)
      column.ids[slot] = idFor(column, this.#labelsOf(slot)?.[column.key]);
  }
}

const idFor = (column: LabelColumn, value: string | undefined): number => {
  if (value === undefined) return 0;
  const known = column.idOf.get(value);
  if (known !== undefined) return known;
  const id = column.idBound;
  column.idBound += 1;
  column.idOf.set(value, id);
  return id;
};
