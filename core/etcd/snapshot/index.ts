export { memoryFile, openReadOnly, type RandomAccess } from './random-access.ts';
export { openBolt, type BoltBucket, type BoltReader, type KeyValue } from './bolt/reader.ts';
export { checkBolt } from './bolt/check.ts';
export {
  planBolt,
  streamBolt,
  writeBolt,
  type BoltEntry,
  type BoltPlan,
  type BoltSource,
  type BoltWriteOptions,
} from './bolt/writer.ts';
export type { SnapshotError, SnapshotReason } from './failure.ts';
export { openSnapshot, readSnapshot, type Snapshot } from './snapshot-file.ts';
export { snapshotStatus, verifySnapshot, type SnapshotStatus, type VerifyOptions } from './status.ts';
export {
  saveSnapshot,
  streamSnapshot,
  writeSnapshot,
  type SnapshotSink,
  type SnapshotSource,
  type SnapshotStream,
} from './write-snapshot.ts';
export { BUMP_REVISION_DEFAULT, restoreEntries, type RestoreOptions, type RestoredEntry } from './restore.ts';
export {
  ETCD_BUCKETS,
  decodeRevisionKey,
  encodeRevisionKey,
  type EtcdBucket,
  type SnapshotMember,
} from './schema.ts';
