import type { KubernetesObject } from '../../api/meta/object-meta.ts';
import { objectKey } from '../../api/meta/object-meta.ts';
import { resourceExpired, tooOldResourceVersion } from '../../api/meta/status-errors.ts';
import type { Stored } from '../kind.ts';

const HISTORY_CHANGES_MAX = 100_000;

export type AnyStored = Stored<KubernetesObject>;

/** One change of one object. `after` of a deletion is its last state with the revision of the deletion. */
export interface Change {
  readonly revision: number;
  readonly table: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly before: AnyStored | undefined;
  readonly after: AnyStored;
}

/** Objects by table with one revision for all, and the history that watches start from. */
export class MemoryStore {
  readonly #tables = new Map<string, Map<string, AnyStored>>();
  readonly #watchers = new Set<(change: Change) => void>();
  #history: Change[] = [];
  #revision = 1;
  #compacted = 0;

  get revision(): number {
    return this.#revision;
  }

  get(table: string, key: string): AnyStored | undefined {
    return this.#tables.get(table)?.get(key);
  }

  /** In the order of keys, as etcd has them. */
  list(table: string): AnyStored[] {
    const entries = [...(this.#tables.get(table) ?? new Map<string, AnyStored>())];
    return entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }

  /** Gives the object the next revision. What is handed in is kept as it is. */
  put(table: string, object: KubernetesObject): AnyStored {
    const rows = this.#tables.get(table) ?? new Map<string, AnyStored>();
    this.#tables.set(table, rows);
    const after = this.#revise(object);
    const key = objectKey(after);
    const before = rows.get(key);
    rows.set(key, after);
    this.#publish({ revision: this.#revision, table, type: before ? 'MODIFIED' : 'ADDED', before, after });
    return after;
  }

  remove(table: string, key: string): AnyStored | undefined {
    const rows = this.#tables.get(table);
    const before = rows?.get(key);
    if (!rows || !before) return undefined;
    rows.delete(key);
    const after = this.#revise(before);
    this.#publish({ revision: this.#revision, table, type: 'DELETED', before, after });
    return after;
  }

  /** Forgets the past: watches from before now are answered with 410. */
  compact(): void {
    this.#compacted = this.#revision;
    this.#history = [];
  }

  /** What happened after `revision`. */
  since(table: string, revision: number): Change[] {
    if (revision < this.#compacted) throw tooOldResourceVersion(String(revision), String(this.#compacted));
    return this.#history.filter((change) => change.table === table && change.revision > revision);
  }

  checkContinue(revision: number): void {
    if (revision < this.#compacted)
      throw resourceExpired(
        'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.',
      );
  }

  onChange(watcher: (change: Change) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  #revise(object: KubernetesObject): AnyStored {
    this.#revision += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#revision) };
    return { ...object, metadata } as AnyStored;
  }

  #publish(change: Change): void {
    this.#history.push(change);
    if (this.#history.length > HISTORY_CHANGES_MAX) {
      this.#compacted = this.#history[0]!.revision;
      this.#history.shift();
    }
    for (const watcher of [...this.#watchers]) watcher(change);
  }
}
