interface Entry<T> {
  readonly item: T;
  dueMs: number;
  position: number;
}

/** Items by due time, each at most once. Setting, moving and removing cost O(log n), looking costs nothing. */
export class DeadlineHeap<T> {
  readonly #entries = new Map<T, Entry<T>>();
  readonly #heap: Entry<T>[] = [];

  get size(): number {
    return this.#heap.length;
  }

  get first(): { readonly item: T; readonly dueMs: number } | undefined {
    return this.#heap[0];
  }

  /** Adds the item, or moves it to another due time. */
  set(item: T, dueMs: number): void {
    const known = this.#entries.get(item);
    if (known === undefined) {
      const entry = { item, dueMs, position: this.#heap.length };
      this.#entries.set(item, entry);
      this.#heap.push(entry);
      this.#rise(entry);
      return;
    }
    const later = dueMs > known.dueMs;
    known.dueMs = dueMs;
    if (later) this.#sink(known);
    else this.#rise(known);
  }

  delete(item: T): void {
    const entry = this.#entries.get(item);
    if (entry === undefined) return;
    this.#entries.delete(item);
    const last = this.#heap.pop()!;
    if (last === entry) return;
    this.#place(last, entry.position);
    this.#rise(last);
    this.#sink(last);
  }

  clear(): void {
    this.#entries.clear();
    this.#heap.length = 0;
  }

  #rise(entry: Entry<T>): void {
    while (entry.position > 0) {
      const parent = this.#heap[(entry.position - 1) >> 1]!;
      if (parent.dueMs <= entry.dueMs) return;
      this.#swap(parent, entry);
    }
  }

  #sink(entry: Entry<T>): void {
    for (;;) {
      const left = this.#heap[2 * entry.position + 1];
      const right = this.#heap[2 * entry.position + 2];
      const child = right !== undefined && right.dueMs < left!.dueMs ? right : left;
      if (child === undefined || child.dueMs >= entry.dueMs) return;
      this.#swap(entry, child);
    }
  }

  #swap(a: Entry<T>, b: Entry<T>): void {
    const position = a.position;
    this.#place(a, b.position);
    this.#place(b, position);
  }

  #place(entry: Entry<T>, position: number): void {
    entry.position = position;
    this.#heap[position] = entry;
  }
}
