import type { Clock } from '../../../core/base/clock.ts';
import type { Disposable } from '../../../core/base/disposable.ts';
import { OperationBook } from './operation-book.ts';
import type { Operation } from '../../../core/contract/index.ts';

/** More clusters than this are not operated on at the same time; the book that was used longest ago and rests is closed. */
const BOOKS_MAX = 128;

/** One book a cluster, made when it is first asked for. */
export class OperationBooks implements Disposable {
  readonly #books = new Map<string, OperationBook>();
  readonly #clock: Clock;
  readonly #onLongEnd: (cluster: string, operation: Operation) => void;

  constructor(clock: Clock, onLongEnd: (cluster: string, operation: Operation) => void) {
    this.#clock = clock;
    this.#onLongEnd = onLongEnd;
  }

  of(cluster: string): OperationBook {
    const known = this.#books.get(cluster);
    if (known) return known;
    const book = new OperationBook({
      clock: this.#clock,
      onLongEnd: (operation) => this.#onLongEnd(cluster, operation),
    });
    this.#books.set(cluster, book);
    for (const [oldest, resting] of this.#books) {
      if (this.#books.size <= BOOKS_MAX) break;
      if (resting.isResting) this.close(oldest);
    }
    return book;
  }

  close(cluster: string): void {
    this.#books.get(cluster)?.dispose();
    this.#books.delete(cluster);
  }

  dispose(): void {
    for (const cluster of [...this.#books.keys()]) this.close(cluster);
  }
}
