export { BUCKETS, isBucket, META } from './backend/backend.ts';
export type { Backend, BackendSize, BackendSnapshot, Bucket, Entry } from './backend/backend.ts';
export type { BufferedBackendOptions } from './backend/buffered-backend.ts';
export { loadBackend, type LoadedEntry } from './backend/load.ts';
export { openLmdbBackend } from './backend/lmdb-engine.ts';
export { MemoryDatabase } from './backend/memory-engine.ts';
export { MvccError, type MvccReason } from './errors.ts';
export type { KeyValueHash } from './hash.ts';
export { readHistory, type History } from './history.ts';
export { EMPTY, KeyValue, NO_LEASE, type KeyValueFields } from './key-value.ts';
export { noLeases, type LeaseBook } from './leases.ts';
export * from './model.ts';
export { decodeRevision, encodeRevision, encodeUint64, readUint64 } from './revision.ts';
export { Store, type ChangeListener, type StoreOptions } from './store.ts';
export { isReadOnly } from './txn.ts';
export { checkTxnOverlap } from './txn-overlap.ts';
export { WatchHub, type WatchCounts } from './watch/watch-hub.ts';
export type {
  WatchBatch,
  Watcher,
  WatchFilter,
  WatchRequest,
  WatcherState,
  WatchSink,
} from './watch/watcher.ts';
