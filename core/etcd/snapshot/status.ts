import { checkBolt } from './bolt/check.ts';
import { openBucket } from './bolt/reader.ts';
import { crc32c } from '../../base/crc32c.ts';
import { keyOfKeyValue } from './key-value.ts';
import { META_KEYS, decodeRevisionKey } from './schema.ts';
import { bucketNameOf, readSnapshot, type Snapshot } from './snapshot-file.ts';

/** What `snapshot status` prints. */
export interface SnapshotStatus {
  /** CRC-32C over the names of buckets, their keys and values, in order. */
  readonly hash: number;
  readonly revision: number;
  /** Keys that exist at the newest revision, as etcdutl counts since 3.6. */
  readonly totalKey: number;
  /** Entries of all buckets: the `totalKey` of etcdctl up to 3.5. */
  readonly totalEntries: number;
  readonly totalSize: number;
  /** Storage version; empty before 3.6. */
  readonly version: string;
}

/**
 * Checks every page, then hashes every bucket. Counting live keys needs a set of them, so memory grows with
 * the number of distinct keys (not with revisions or values).
 */
export const snapshotStatus = async (snapshot: Snapshot): Promise<SnapshotStatus> => {
  const { bolt } = snapshot;
  await checkBolt(bolt);
  const live = new Set<string>();
  let hash = 0;
  let revision = 0;
  let totalEntries = 0;

  const countRevision = (key: Buffer, value: Buffer): void => {
    const { main, isTombstone } = decodeRevisionKey(key);
    revision = main;
    const name = keyOfKeyValue(value, main).toString('latin1');
    if (isTombstone) live.delete(name);
    else live.add(name);
  };

  for await (const elements of bolt.root.leaves()) {
    for (const element of elements) {
      if (!element.isBucket) continue;
      const isKeyBucket = bucketNameOf(element.key) === 'key';
      hash = crc32c(hash, element.key);
      for await (const leaf of openBucket(bolt.pages, element).leaves()) {
        for (const { key, value, isBucket } of leaf) {
          hash = crc32c(hash, key);
          // bbolt's ForEach gives no value for a nested bucket.
          if (!isBucket) hash = crc32c(hash, value);
          totalEntries += 1;
          if (isKeyBucket) countRevision(key, value);
        }
      }
    }
  }
  const version = await snapshot.get('meta', Buffer.from(META_KEYS.storageVersion));
  return {
    hash,
    revision,
    totalKey: live.size,
    totalEntries,
    totalSize: bolt.meta.pageCount * bolt.meta.pageBytes,
    version: version === undefined ? '' : version.toString(),
  };
};

export interface VerifyOptions {
  /** For a database copied from a data folder, which has no sha256 trailer. */
  readonly skipHashCheck?: boolean;
}

/** The integrity hash, the structure of all pages, and what `etcdctl snapshot status` says of the content. */
export const verifySnapshot = async (path: string, options: VerifyOptions = {}): Promise<SnapshotStatus> => {
  const snapshot = await readSnapshot(path);
  try {
    if (options.skipHashCheck !== true) await snapshot.verifyHash();
    return await snapshotStatus(snapshot);
  } finally {
    await snapshot.close();
  }
};
