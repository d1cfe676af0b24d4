import { stat } from 'node:fs/promises';
import type { Clock } from '../../core/base/clock.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import { openSnapshotSource, type SnapshotSource } from '../../core/cluster/history/index.ts';

/** Each holds the names of its keys in memory. */
const OPEN_MAX = 2;
const IDLE_MS_MAX = 120_000;

interface Book {
  readonly id: string;
  readonly source: Promise<SnapshotSource>;
  users: number;
  isTaken: boolean;
  idle: Disposable | undefined;
}

/** Snapshot files that are open: the last few, until they were unused for a while. */
export class SnapshotShelf implements Disposable {
  readonly #clock: Clock;
  readonly #books = new Map<string, Book>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A file of another size or time is another file. */
  async use<T>(
    file: string,
    revision: number | null,
    run: (source: SnapshotSource) => Promise<T>,
  ): Promise<T> {
    const { size, mtimeMs } = await stat(file);
    const id = [file, size, mtimeMs, revision].join('\0');
    const book = this.#books.get(id) ?? this.#open(id, file, revision);
    book.users += 1;
    book.idle?.dispose();
    try {
      return await run(await book.source);
    } finally {
      book.users -= 1;
      if (book.isTaken) this.#close(book);
      else book.idle = this.#clock.after(IDLE_MS_MAX, () => this.#takeOff(book));
    }
  }

  dispose(): void {
    for (const book of [...this.#books.values()]) this.#takeOff(book);
  }

  #open(id: string, file: string, revision: number | null): Book {
    for (const oldest of this.#books.values()) {
      if (this.#books.size < OPEN_MAX) break;
      this.#takeOff(oldest);
    }
    const source = openSnapshotSource(file, revision ?? undefined);
    const book: Book = { id, source, users: 0, isTaken: false, idle: undefined };
    this.#books.set(id, book);
    source.catch(() => this.#books.delete(id));
    return book;
  }

  #takeOff(book: Book): void {
    book.idle?.dispose();
    this.#books.delete(book.id);
    book.isTaken = true;
    this.#close(book);
  }

  #close(book: Book): void {
    if (book.users > 0) return;
    book.source.then(
      (source) => source.close(),
      () => undefined,
    );
  }
}
