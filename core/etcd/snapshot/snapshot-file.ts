import { createHash } from 'node:crypto';
import { failure, malformed } from './failure.ts';
import { openBucket, openBolt, requireBucket, type BoltReader, type KeyValue } from './bolt/reader.ts';
import { openReadOnly, type RandomAccess } from './random-access.ts';

export const HASH_BYTES = 32;
/** etcd tells a trailer by the size of the file: databases are whole sectors. */
const SECTOR_BYTES = 512;
const READ_BYTES = 256 * 1024;

export interface Snapshot {
  readonly bolt: BoltReader;
  /** Size of the database alone, without the trailer. */
  readonly databaseBytes: number;
  readonly hasHash: boolean;
  /** Reads all of the file once. Throws HashMissing or HashMismatch. */
  verifyHash(): Promise<void>;
  /** Names of all buckets, sorted. */
  buckets(): Promise<string[]>;
  /** One bucket in key order. Throws NoSuchBucket. */
  entries(bucket: string): AsyncGenerator<KeyValue>;
  get(bucket: string, key: Uint8Array): Promise<Buffer | undefined>;
  /** Everything, in the order in which a writer takes it. */
  all(): AsyncGenerator<KeyValue & { readonly bucket: string }>;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

export const bucketNameOf = (bytes: Uint8Array): string => {
  try {
    return decoder.decode(bytes);
  } catch {
    throw malformed('root bucket', `bucket name ${Buffer.from(bytes).toString('hex')} is not text`);
  }
};

const hashOf = async (file: RandomAccess, length: number): Promise<Buffer> => {
  const hash = createHash('sha256');
  for (let offset = 0; offset < length; offset += READ_BYTES) {
    const bytes = await file.read(offset, Math.min(READ_BYTES, length - offset));
    if (bytes.length === 0)
      throw failure('Truncated', `the file ends at byte ${offset} of ${length} while it is read`);
    hash.update(bytes);
  }
  return hash.digest();
};

/** Opens a snapshot, or a bare database, over a file that the caller closes. */
export const openSnapshot = async (file: RandomAccess): Promise<Snapshot> => {
  const fileBytes = await file.size();
  const hasHash = fileBytes % SECTOR_BYTES === HASH_BYTES;
  const databaseBytes = hasHash ? fileBytes - HASH_BYTES : fileBytes;
  const bolt = await openBolt(file);

  const buckets = async (): Promise<string[]> => {
    const names: string[] = [];
    for await (const name of bolt.root.bucketNames()) names.push(bucketNameOf(name));
    return names;
  };

  return {
    bolt,
    databaseBytes,
    hasHash,
    async verifyHash() {
      if (!hasHash) {
        throw failure(
          'HashMissing',
          'the snapshot has no integrity hash; if it was copied from a data folder, skip the hash check',
        );
      }
      const expected = Buffer.from(await file.read(databaseBytes, HASH_BYTES));
      const actual = await hashOf(file, databaseBytes);
      if (!expected.equals(actual)) {
        throw failure(
          'HashMismatch',
          `the snapshot is damaged: expected sha256 ${expected.toString('hex')}, got ${actual.toString('hex')}`,
        );
      }
    },
    buckets,
    async *entries(bucket) {
      yield* (await requireBucket(bolt, bucket)).entries();
    },
    async get(bucket, key) {
      const found = await bolt.root.bucket(Buffer.from(bucket));
      return found?.get(key);
    },
    async *all() {
      for await (const elements of bolt.root.leaves()) {
        for (const element of elements) {
          if (!element.isBucket) continue;
          const bucket = bucketNameOf(element.key);
          for await (const leaf of openBucket(bolt.pages, element).leaves()) {
            for (const { key, value, isBucket } of leaf) if (!isBucket) yield { bucket, key, value };
          }
        }
      }
    },
  };
};

/** Opens a snapshot file; `close` ends it, and with it every iteration that is still in progress. */
export const readSnapshot = async (path: string): Promise<Snapshot & { close(): Promise<void> }> => {
  const file = await openReadOnly(path);
  try {
    return { ...(await openSnapshot(file)), close: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
};
