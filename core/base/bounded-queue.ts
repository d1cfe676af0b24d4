import { assert } from './assert.ts';

/** What a full queue does with one more item. */
export type Overflow = 'drop-oldest' | 'refuse';

export interface BoundedQueueOptions {
  readonly itemsMax: number;
  readonly overflow: Overflow;
}

/**
 * A queue between a source that pushes and one consumer that takes batches. It never grows past
 * `itemsMax`: the oldest item goes (and is counted), or the push is refused and the source must wait.
 */
export class BoundedQueue<T> {
  readonly #options: BoundedQueueOptions;
  #items: T[] = [];
  #waiting: (() => void) | undefined;
  #closed = false;
  #droppedCount = 0;

  constructor(options: BoundedQueueOptions) {
    assert(options.itemsMax > 0, 'a bounded queue needs room for at least one item');
    this.#options = options;
  }

  get size(): number {
    return this.#items.length;
  }

  /** Items lost to `drop-oldest` so far. */
  get droppedCount(): number {
    return this.#droppedCount;
  }

  /** False when the item was refused: the queue is full, or closed. */
  push(item: T): boolean {
    if (this.#closed) return false;
    if (this.#items.length >= this.#options.itemsMax) {
      if (this.#options.overflow === 'refuse') return false;
      this.#items.shift();
      this.#droppedCount += 1;
    }
    this.#items.push(item);
    this.#wake();
    return true;
  }

  /** Ends the queue: items already in it are still delivered. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /** Batches of at most `batchItemsMax`, until the queue is closed and empty. One consumer only. */
  async *batches(batchItemsMax: number): AsyncGenerator<T[], void, void> {
    for (;;) {
      if (this.#items.length > 0) {
        const batch =
          this.#items.length <= batchItemsMax ? this.#items : this.#items.splice(0, batchItemsMax);
        if (batch === this.#items) this.#items = [];
        yield batch;
      } else if (this.#closed) {
        return;
      } else {
        assert(this.#waiting === undefined, 'a bounded queue has one consumer');
        await new Promise<void>((resolve) => (this.#waiting = resolve));
      }
    }
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.();
  }
}
