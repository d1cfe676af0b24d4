/** A binary heap whose items can be found, replaced and removed by key. */
export class KeyedHeap<T> {
  readonly #items: T[] = [];
  readonly #positions = new Map<string, number>();
  readonly #keyOf: (item: T) => string;
  readonly #less: (a: T, b: T) => boolean;

  constructor(options: { readonly keyOf: (item: T) => string; readonly less: (a: T, b: T) => boolean }) {
    this.#keyOf = options.keyOf;
    this.#less = options.less;
  }

  get size(): number {
    return this.#items.length;
  }

  has(key: string): boolean {
    return this.#positions.has(key);
  }

  get(key: string): T | undefined {
    const at = this.#positions.get(key);
    return at === undefined ? undefined : this.#items[at];
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  list(): readonly T[] {
    return [...this.#items];
  }

  /** Adds the item, or replaces the one with its key. */
  set(item: T): void {
    const key = this.#keyOf(item);
    const at = this.#positions.get(key) ?? this.#items.length;
    this.#place(item, at);
    this.#down(this.#up(at));
  }

  pop(): T | undefined {
    const first = this.#items[0];
    if (first !== undefined) this.delete(this.#keyOf(first));
    return first;
  }

  delete(key: string): T | undefined {
    const at = this.#positions.get(key);
    if (at === undefined) return undefined;
    const removed = this.#items[at]!;
    const last = this.#items.pop()!;
    this.#positions.delete(key);
    if (at < this.#items.length) {
      this.#place(last, at);
      this.#down(this.#up(at));
    }
    return removed;
  }

  #place(item: T, at: number): void {
    this.#items[at] = item;
    this.#positions.set(this.#keyOf(item), at);
  }

  #up(start: number): number {
    let at = start;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfLess(at, parent)) break;
      at = parent;
    }
    return at;
  }

  #down(start: number): void {
    let at = start;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= this.#items.length) return;
      const right = left + 1;
      const child =
        right < this.#items.length && this.#less(this.#items[right]!, this.#items[left]!) ? right : left;
      if (!this.#swapIfLess(child, at)) return;
      at = child;
    }
  }

  #swapIfLess(child: number, parent: number): boolean {
    const [a, b] = [this.#items[child]!, this.#items[parent]!];
    if (!this.#less(a, b)) return false;
    this.#place(a, parent);
    this.#place(b, child);
    return true;
  }
}
