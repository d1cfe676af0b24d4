import { exponentialBuckets, type Registry } from '../../base/metrics/index.ts';

const V2_STORE = {
  expires_total: 'Total number of expired keys.',
  reads_failed_total: 'Failed read actions by (get/getRecursive), local to this member.',
  reads_total: 'Total number of reads action by (get/getRecursive), local to this member.',
  watch_requests_total: 'Total number of incoming watch requests (new or reestablished).',
  writes_failed_total: 'Failed write actions (e.g. set/compareAndDelete), seen by this member.',
  writes_total: 'Total number of writes (e.g. set/compareAndDelete) seen by this member.',
} as const;

/** With the label `action`; etcd has these two series from its start on. */
const ACTIONS: Readonly<Record<string, string | undefined>> = {
  reads_failed_total: undefined,
  reads_total: 'getRecursive',
  writes_failed_total: undefined,
  writes_total: 'create',
};

/** etcd's binary is its gRPC proxy, too, and exposes what only that counts. */
const GRPC_PROXY = {
  cache_hits_total: 'Total number of cache hits',
  cache_keys_total: 'Total number of keys/ranges cached',
  cache_misses_total: 'Total number of cache misses',
  watchers_coalescing_total: 'Total number of current watchers coalescing',
} as const;

/**
 * Metrics of etcd 3.6 for parts that this member does not have: the store of the v2 API, the phases of a commit of bbolt.
 * Nothing ever happens there, so they stay at 0; dashboards and alerts that name them find them.
 */
export const registerIdle = (registry: Registry): void => {
  for (const [name, help] of Object.entries(V2_STORE)) {
    const metric = { name: `etcd_debugging_store_${name}`, help };
    if (!Object.hasOwn(ACTIONS, name)) registry.counter(metric);
    else {
      const family = registry.counterFamily({ ...metric, labels: ['action'] as const });
      const action = ACTIONS[name];
      if (action !== undefined) family.labels(action);
    }
  }
  for (const [name, help] of Object.entries(GRPC_PROXY))
    registry.gauge({ name: `etcd_grpc_proxy_${name}`, help });
  registry.counter({
    name: 'etcd_grpc_proxy_events_coalescing_total',
    help: 'Total number of events coalescing',
  });
  registry.gauge({ name: 'etcd_debugging_store_watchers', help: 'Count of currently active watchers.' });
  for (const phase of ['rebalance', 'spill', 'write'])
    registry.histogram({
      name: `etcd_debugging_disk_backend_commit_${phase}_duration_seconds`,
      help: `The latency distributions of commit.${phase} called by bboltdb backend.`,
      buckets: exponentialBuckets(0.001, 2, 14),
    });
  registry.histogram({
    name: 'etcd_debugging_snap_save_marshalling_duration_seconds',
    help: 'The marshalling cost distributions of save called by snapshot.',
    buckets: exponentialBuckets(0.001, 2, 14),
  });
};
