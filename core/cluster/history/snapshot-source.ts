import { ReasonError } from '../../base/errors.ts';
import { KeyValue } from '../../etcd/proto/index.ts';
import { decodeRevisionKey, encodeRevisionKey, readSnapshot } from '../../etcd/snapshot/index.ts';
import { keyOfKeyValue } from '../../etcd/snapshot/key-value.ts';
import { REGISTRY } from './place.ts';
import type { Source, StoredValue } from './source.ts';

/** About 200 bytes each in memory. Clusters at the limits of Kubernetes have a third of it. */
const KEYS_MAX = 1_000_000;

interface Row {
  readonly main: number;
  readonly sub: number;
}

export interface SnapshotSource extends Source {
  /** The oldest revision that the file still has something of; older ones were compacted. */
  readonly oldestRevision: number;
  close(): Promise<void>;
}

export class SnapshotReadError extends ReasonError<'TooManyKeys' | 'RevisionUnknown'> {}

/**
 * A snapshot file, as it was saved or at an earlier revision that it still holds. One pass finds the newest revision of
 * every key; values stay in the file until they are asked for.
 */
export const openSnapshotSource = async (file: string, atRevision?: number): Promise<SnapshotSource> => {
  const snapshot = await readSnapshot(file);
  try {
    const rows = new Map<string, Row>();
    let revision = 0;
    let oldestRevision = Number.MAX_SAFE_INTEGER;
    for await (const { key: at, value } of snapshot.entries('key')) {
      const { main, sub, isTombstone } = decodeRevisionKey(at);
      oldestRevision = Math.min(oldestRevision, main);
      if (atRevision !== undefined && main > atRevision) break;
      revision = main;
      const key = keyOfKeyValue(value, main).toString();
      if (!key.startsWith(REGISTRY)) continue;
      if (isTombstone) rows.delete(key);
      else rows.set(key, { main, sub });
      if (rows.size > KEYS_MAX)
        throw new SnapshotReadError('TooManyKeys', `${file} has more than ${KEYS_MAX} keys`);
    }
    if (revision === 0)
      throw new SnapshotReadError('RevisionUnknown', `${file} holds nothing of revision ${atRevision ?? 0}`);
    const sorted = [...rows.keys()].sort();

    const valueOf = async (key: string, row: Row): Promise<StoredValue | undefined> => {
      const bytes = await snapshot.get('key', encodeRevisionKey(row));
      if (bytes === undefined) return undefined;
      const { value, createRevision, modRevision, version } = KeyValue.decode(bytes);
      return { key, value, createRevision, modRevision, version };
    };
    /** The first that is not before the prefix. */
    const startOf = (prefix: string): number => {
      let [low, high] = [0, sorted.length];
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (sorted[middle]! < prefix) low = middle + 1;
        else high = middle;
      }
      return low;
    };
    function* keysOf(prefix: string): Generator<string> {
      for (let at = startOf(prefix); at < sorted.length && sorted[at]!.startsWith(prefix); at += 1)
        yield sorted[at]!;
    }

    return {
      revision: atRevision ?? revision,
      oldestRevision,
      async *keys(prefix) {
        for (const key of keysOf(prefix)) yield { key, modRevision: rows.get(key)!.main };
      },
      async *values(prefix) {
        for (const key of keysOf(prefix)) {
          const found = await valueOf(key, rows.get(key)!);
          if (found) yield found;
        }
      },
      async read(key) {
        const row = rows.get(key);
        return row && valueOf(key, row);
      },
      close: () => snapshot.close(),
    };
  } catch (error) {
    await snapshot.close();
    throw error;
  }
};
