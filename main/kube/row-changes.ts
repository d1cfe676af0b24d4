import {
  TABLE_ROWS_PER_ITEM_MAX,
  type TableColumn,
  type TableItem,
  type TableRow,
  type WatchHealth,
} from '../../core/contract/index.ts';
import type { VersionedRow } from './table-rows.ts';

/**
 * What a console has not been told yet. Only the newest state of a row is kept, so what waits for a slow
 * console is bounded by the rows of the list, not by how often they change.
 */
export class RowChanges {
  /** What the console knows, or will know once everything here is taken: key to resource version. */
  readonly #known = new Map<string, string>();
  #pending = new Map<string, TableRow | null>();
  #columns: readonly TableColumn[] | undefined;
  #columnNames = '';
  #isListed = false;
  #health: WatchHealth | undefined;
  #wake: (() => void) | undefined;

  get rowCount(): number {
    return this.#known.size;
  }

  get isEmpty(): boolean {
    return this.#pending.size === 0 && !this.#columns && !this.#isListed && !this.#health;
  }

  setColumns(columns: readonly TableColumn[]): void {
    const names = columns.map(({ name }) => name).join('\n');
    if (names === this.#columnNames) return;
    this.#columnNames = names;
    this.#columns = columns;
    this.#notify();
  }

  put({ row, resourceVersion }: VersionedRow): void {
    if (resourceVersion !== '' && this.#known.get(row.key) === resourceVersion) return;
    this.#known.set(row.key, resourceVersion);
    this.#pending.set(row.key, row);
    this.#notify();
  }

  remove(key: string): void {
    if (!this.#known.delete(key)) return;
    this.#pending.set(key, null);
    this.#notify();
  }

  /** After a complete list: what it did not have is gone. */
  keepOnly(keys: ReadonlySet<string>): void {
    for (const key of [...this.#known.keys()]) if (!keys.has(key)) this.remove(key);
    this.#isListed = true;
    this.#notify();
  }

  setHealth(health: WatchHealth): void {
    this.#health = health;
    this.#notify();
  }

  /** Resolves when there is something to take, or the signal is aborted. */
  whenChanged(signal: AbortSignal): Promise<void> {
    if (!this.isEmpty || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        this.#wake = undefined;
        resolve();
      };
      this.#wake = done;
      signal.addEventListener('abort', done, { once: true });
    });
  }

  /** Everything since the last time, columns first and `listed` after the rows that it speaks of. */
  take(): TableItem[] {
    const items: TableItem[] = [];
    if (this.#columns) items.push({ kind: 'columns', columns: [...this.#columns] });
    const rows: TableRow[] = [];
    const gone: string[] = [];
    for (const [key, row] of this.#pending) {
      if (row) rows.push(row);
      else gone.push(key);
    }
    for (let from = 0; from < gone.length; from += TABLE_ROWS_PER_ITEM_MAX)
      items.push({ kind: 'gone', keys: gone.slice(from, from + TABLE_ROWS_PER_ITEM_MAX) });
    for (let from = 0; from < rows.length; from += TABLE_ROWS_PER_ITEM_MAX)
      items.push({ kind: 'rows', rows: rows.slice(from, from + TABLE_ROWS_PER_ITEM_MAX) });
    if (this.#isListed) items.push({ kind: 'listed' });
    if (this.#health) items.push({ kind: 'health', health: this.#health });
    this.#pending = new Map();
    this.#columns = undefined;
    this.#isListed = false;
    this.#health = undefined;
    return items;
  }

  #notify(): void {
    this.#wake?.();
  }
}
