import { BoundedQueue } from '../../core/base/bounded-queue.ts';
import { toDisposable } from '../../core/base/disposable.ts';

export interface FeedOptions {
  /** What one listener may have waiting; beyond it the oldest goes. */
  readonly listenerItemsMax: number;
  /** What is kept for the first listener while there is none. */
  readonly unheardItemsMax?: number;
  /** Told when the first listener comes and when the last one goes, so that a source runs only if heard. */
  readonly onHeard?: (heard: boolean) => void;
}

/** One source, many listeners, each with a bounded queue of its own: a slow one loses its oldest items. */
export class Feed<T> {
  readonly #options: FeedOptions;
  readonly #listeners = new Set<BoundedQueue<T>>();
  #unheard: T[] = [];
  #closed = false;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  get listenerCount(): number {
    return this.#listeners.size;
  }

  publish(item: T): void {
    if (this.#closed) return;
    for (const queue of this.#listeners) queue.push(item);
    const unheardItemsMax = this.#options.unheardItemsMax ?? 0;
    if (this.#listeners.size === 0 && unheardItemsMax > 0)
      this.#unheard = [...this.#unheard, item].slice(-unheardItemsMax);
  }

  /** Yields `first`, then what was unheard, then what comes, until the signal aborts or the feed closes. */
  async *listen(signal: AbortSignal, first: readonly T[] = []): AsyncGenerator<T[], void, void> {
    if (this.#closed || signal.aborted) return;
    const { listenerItemsMax, onHeard } = this.#options;
    const queue = new BoundedQueue<T>({ itemsMax: listenerItemsMax, overflow: 'drop-oldest' });
    for (const item of [...first, ...this.#unheard.splice(0)]) queue.push(item);

    const leave = toDisposable(() => {
      signal.removeEventListener('abort', leave.dispose);
      this.#listeners.delete(queue);
      queue.close();
      if (this.#listeners.size === 0) onHeard?.(false);
    });
    this.#listeners.add(queue);
    signal.addEventListener('abort', leave.dispose, { once: true });
    try {
      if (this.#listeners.size === 1) onHeard?.(true);
      for await (const batch of queue.batches(listenerItemsMax)) {
        if (signal.aborted) return;
        yield batch;
      }
    } finally {
      leave.dispose();
    }
  }

  /** Ends every listener. */
  close(): void {
    this.#closed = true;
    for (const queue of this.#listeners) queue.close();
  }
}
