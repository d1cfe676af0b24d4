import { exponentialBuckets, type Gauge, type Histogram, type Registry } from '../../base/metrics/index.ts';
import { NOBODY } from '../../raft/types.ts';
import { leaseMetrics } from '../lease/index.ts';
import type { MemberObserver } from '../member/observer.ts';
import type { CompactionObserver } from '../mvcc/compaction.ts';

/** 1 ms to 8 s, as etcd buckets the time of disk work. */
const DISK_BUCKETS = exponentialBuckets(0.001, 2, 14);
const MS_PER_SECOND = 1000;

const compactionObserver = (registry: Registry): CompactionObserver => {
  const histogram = (name: string, what: string, from: number, count: number): Histogram =>
    registry.histogram({
      name: `etcd_debugging_mvcc_${name}_duration_milliseconds`,
      help: `Bucketed histogram of ${what} duration.`,
      buckets: exponentialBuckets(from, 2, count),
    });
  const indexPause = histogram('index_compaction_pause', 'index compaction pause', 0.5, 14);
  const pause = histogram('db_compaction_pause', 'db compaction pause', 1, 13);
  const total = histogram('db_compaction_total', 'db compaction total', 100, 14);
  const keys = registry.counter({
    name: 'etcd_debugging_mvcc_db_compaction_keys_total',
    help: 'Total number of db keys compacted.',
  });
  const last = registry.gauge({
    name: 'etcd_debugging_mvcc_db_compaction_last',
    help: 'The unix time of the last db compaction. Resets to 0 on start.',
  });
  return {
    indexPaused: (ms) => indexPause.observe(ms),
    sweepPaused: (ms) => pause.observe(ms),
    finished(ms, removedKeys) {
      total.observe(ms);
      keys.inc(removedKeys);
      last.set(Math.floor(Date.now() / MS_PER_SECOND));
    },
  };
};

/** What a member saves and takes over; where etcd writes snapshot files, ours marks its log. */
const snapshotObserver = (
  registry: Registry,
): Pick<MemberObserver, 'snapshotSaved' | 'stateReceived' | 'stateInstalling'> => {
  const histogram = (name: string, help: string): Histogram =>
    registry.histogram({ name, help, buckets: DISK_BUCKETS });
  const saved = histogram(
    'etcd_debugging_snap_save_total_duration_seconds',
    'The total latency distributions of save called by snapshot.',
  );
  const savedSync = histogram(
    'etcd_snap_fsync_duration_seconds',
    'The latency distributions of fsync called by snap.',
  );
  const received = registry.histogram({
    name: 'etcd_snap_db_save_total_duration_seconds',
    help: 'The total latency distributions of v3 snapshot save',
    buckets: exponentialBuckets(0.1, 2, 10),
  });
  const receivedSync = histogram(
    'etcd_snap_db_fsync_duration_seconds',
    'The latency distributions of fsyncing .snap.db file',
  );
  const installing = registry.gauge({
    name: 'etcd_server_snapshot_apply_in_progress_total',
    help: '1 if the server is applying the incoming snapshot. 0 if none.',
  });
  return {
    snapshotSaved(seconds, syncSeconds) {
      saved.observe(seconds);
      savedSync.observe(syncSeconds);
    },
    stateReceived(seconds, syncSeconds) {
      received.observe(seconds);
      receivedSync.observe(syncSeconds);
    },
    stateInstalling: (isInProgress) => installing.set(Number(isInProgress)),
  };
};

/** By kind and outcome; the families are looked up once each. */
const applyObserver = (registry: Registry): MemberObserver['requestApplied'] => {
  const family = registry.histogramFamily({
    name: 'etcd_server_apply_duration_seconds',
    help: 'The latency distributions of v2 apply called by backend.',
    labels: ['version', 'op', 'success'] as const,
    buckets: exponentialBuckets(0.0001, 2, 20),
  });
  const known = new Map<string, { readonly done: Histogram; readonly refused: Histogram }>();
  return (kind, seconds, isDone) => {
    let of = known.get(kind);
    if (of === undefined) {
      // etcd names an operation as its request: `put` is `Put`.
      const op = kind[0]!.toUpperCase() + kind.slice(1);
      of = { done: family.labels('v3', op, 'true'), refused: family.labels('v3', op, 'false') };
      known.set(kind, of);
    }
    (isDone ? of.done : of.refused).observe(seconds);
  };
};

/** Counts what a member does, under etcd's names. */
export const memberObserver = (registry: Registry): MemberObserver => {
  const disk = (name: string, help: string): Histogram =>
    registry.histogram({ name: `etcd_disk_${name}`, help, buckets: DISK_BUCKETS });
  const walSync = disk('wal_fsync_duration_seconds', 'The latency distributions of fsync called by WAL.');
  const walWrite = disk('wal_write_duration_seconds', 'The latency distributions of write called by WAL.');
  const walBytes: Gauge = registry.gauge({
    name: 'etcd_disk_wal_write_bytes_total',
    help: 'Total number of bytes written in WAL.',
  });
  const commit = disk(
    'backend_commit_duration_seconds',
    'The latency distributions of commit called by backend.',
  );
  const applied = registry.gauge({
    name: 'etcd_server_proposals_applied_total',
    help: 'The total number of consensus proposals applied.',
  });
  const server = (name: string, help: string) => registry.counter({ name: `etcd_server_${name}`, help });
  const leaderChanges = server('leader_changes_seen_total', 'The number of leader changes seen.');
  const lateHeartbeats = server(
    'heartbeat_send_failures_total',
    'The total number of leader heartbeat send failures (likely overloaded from slow disk).',
  );
  const slowApplies = server(
    'slow_apply_total',
    'The total number of slow apply requests (likely overloaded from slow disk).',
  );
  const slowReads = server(
    'slow_read_indexes_total',
    "The total number of pending read indexes not in sync with leader's or timed out read index requests.",
  );
  const failedReads = server('read_indexes_failed_total', 'The total number of failed read indexes seen.');
  return {
    leases: leaseMetrics(registry),
    compactions: compactionObserver(registry),
    // One call writes and syncs, so both see its duration.
    walSynced(seconds) {
      walSync.observe(seconds);
      walWrite.observe(seconds);
    },
    walWritten: (bytes) => walBytes.add(bytes),
    backendCommitted: (seconds) => commit.observe(seconds),
    applied: (_entries, index) => applied.set(index),
    requestApplied: applyObserver(registry),
    applySlow: () => slowApplies.inc(),
    heartbeatLate: () => lateHeartbeats.inc(),
    readIndexSlow: () => slowReads.inc(),
    readIndexFailed: () => failedReads.inc(),
    ...snapshotObserver(registry),
    leaderChanged(_from, to) {
      if (to !== NOBODY) leaderChanges.inc();
    },
  };
};
