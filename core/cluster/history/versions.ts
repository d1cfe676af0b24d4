import { hasReason } from '../../base/errors.ts';
import { decodeRevisionKey, readSnapshot } from '../../etcd/snapshot/index.ts';
import { keyOfKeyValue } from '../../etcd/snapshot/key-value.ts';

export const VERSIONS_MAX = 60;

/** One write of an object, or its deletion. */
export interface Version {
  readonly revision: number;
  readonly isDeleted: boolean;
}

export interface Versions {
  /** Newest first. */
  readonly versions: readonly Version[];
  readonly isCut: boolean;
}

/** The revision that an object has at a revision; undefined where there is no such object. Throws EtcdCompacted. */
export type ReadAt = (revision: number) => Promise<{ readonly modRevision: number } | undefined>;

/**
 * Every write of one key that is still kept: each version says when it was written, and the one before it is what there
 * was a revision earlier. A deletion is found by halving: etcd tells nothing about keys that are gone.
 */
export const walkVersions = async (
  readAt: ReadAt,
  { oldest, newest }: { readonly oldest: number; readonly newest: number },
): Promise<Versions> => {
  const versions: Version[] = [];
  const at = async (revision: number): Promise<number | undefined> => {
    try {
      return (await readAt(revision))?.modRevision;
    } catch (error) {
      // Compacted while this runs: as if it had been before.
      if (hasReason(error, 'EtcdCompacted')) return undefined;
      throw error;
    }
  };
  /** The first revision without it, between one that has it and one that has it not. */
  const deletionBetween = async (present: number, absent: number): Promise<number> => {
    let [low, high] = [present, absent];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if ((await at(middle)) === undefined) high = middle;
      else low = middle;
    }
    return high;
  };
  let end = newest;
  while (end >= oldest && versions.length < VERSIONS_MAX) {
    const found = await at(end);
    if (found !== undefined) {
      versions.push({ revision: found, isDeleted: false });
      end = found - 1;
      continue;
    }
    if (end === oldest || (await at(oldest)) === undefined) break;
    const deleted = await deletionBetween(oldest, end);
    versions.push({ revision: deleted, isDeleted: true });
    end = deleted - 1;
  }
  return { versions, isCut: versions.length >= VERSIONS_MAX };
};

/** Every write of one key that a snapshot file holds, newest first. Reads the file once and holds nothing of it. */
export const versionsInSnapshot = async (file: string, key: string): Promise<readonly Version[]> => {
  const snapshot = await readSnapshot(file);
  const versions: Version[] = [];
  try {
    for await (const { key: at, value } of snapshot.entries('key')) {
      const { main, isTombstone } = decodeRevisionKey(at);
      if (keyOfKeyValue(value, main).toString() !== key) continue;
      versions.push({ revision: main, isDeleted: isTombstone });
      if (versions.length > VERSIONS_MAX) versions.shift();
    }
  } finally {
    await snapshot.close();
  }
  return versions.reverse();
};
