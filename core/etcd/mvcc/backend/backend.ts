/** etcd's buckets, by etcd's names: the snapshot file is written from them one to one. */
export const BUCKETS = [
  'alarm',
  'auth',
  'authRoles',
  'authUsers',
  'cluster',
  'key',
  'lease',
  'members',
  'members_removed',
  'meta',
] as const;
export type Bucket = (typeof BUCKETS)[number];

export const isBucket = (name: string): name is Bucket => (BUCKETS as readonly string[]).includes(name);

/** Keys of the bucket `meta`. */
export const META = {
  consistentIndex: Buffer.from('consistent_index'),
  term: Buffer.from('term'),
  scheduledCompact: Buffer.from('scheduledCompactRev'),
  finishedCompact: Buffer.from('finishedCompactRev'),
  confState: Buffer.from('confState'),
  storageVersion: Buffer.from('storageVersion'),
} as const;

export interface Entry {
  readonly key: Buffer;
  readonly value: Buffer;
}

export interface BackendSize {
  /** Bytes of the file. */
  readonly totalBytes: number;
  /** Bytes of it that hold data; the rest is free for reuse, and `defragment` gives it back. */
  readonly inUseBytes: number;
}

/** A view that later writes do not change. Dispose it: it keeps old pages from being reused. */
export interface BackendSnapshot {
  readonly consistentIndex: number;
  readonly term: number;
  readonly size: BackendSize;
  get(bucket: Bucket, key: Uint8Array): Buffer | undefined;
  /** At most `limit` entries in [from, to), ascending; without `to` up to the end. */
  range(bucket: Bucket, from: Uint8Array, to: Uint8Array | undefined, limit: number): Entry[];
  /** All entries of a bucket, ascending, read in bounded chunks. */
  entries(bucket: Bucket): Iterable<Entry>;
  dispose(): void;
}

/**
 * Ordered buckets of bytes. Writes are seen by reads immediately and become durable together, in the order they
 * were made, at the next commit: after a crash the backend holds everything up to some commit and nothing
 * after it, and `consistentIndex` names the last Raft entry it holds.
 *
 * Anyone who applies an entry makes all its writes and calls `setConsistentIndex` within one synchronous turn;
 * a commit never happens in the middle of a turn. The backend keeps the buffers that it is given.
 */
export interface Backend {
  readonly consistentIndex: number;
  readonly term: number;
  get(bucket: Bucket, key: Uint8Array): Buffer | undefined;
  /** At most `limit` entries in [from, to), ascending; without `to` up to the end. */
  range(bucket: Bucket, from: Uint8Array, to: Uint8Array | undefined, limit: number): Entry[];
  put(bucket: Bucket, key: Buffer, value: Buffer): void;
  delete(bucket: Bucket, key: Buffer): void;
  setConsistentIndex(index: number, term: number): void;
  /** Everything written before the call is durable when it resolves. */
  commit(): Promise<void>;
  /** Undefined while there is room. Otherwise wait for it before applying more: commits are behind. */
  whenWritable(): Promise<void> | undefined;
  /** Commits, then a view of at least what was written before the call. */
  snapshot(): Promise<BackendSnapshot>;
  /** Rewrites the file without its free space. Reads and writes continue; commits wait. */
  defragment(): Promise<void>;
  /** Views that were not disposed yet. */
  readonly openSnapshots: number;
  /** As of the last commit. */
  size(): BackendSize;
  /** Commits what is pending and closes. */
  close(): Promise<void>;
}
