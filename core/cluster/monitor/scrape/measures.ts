import { labelOf } from './prometheus-text.ts';

/** What kinds of components are scraped. */
export type Component =
  | 'kube-apiserver'
  | 'etcd'
  | 'kube-controller-manager'
  | 'cloud-controller-manager'
  | 'kube-scheduler'
  | 'kubelet'
  | 'kube-proxy';

/** One figure that is kept of a scrape, summed over all label sets but those of `by`. */
export interface Measure {
  readonly metric: string;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** A series for each value of this label. */
  readonly by?: string;
  isCounted?(labels: string): boolean;
}

const LONG_RUNNING_VERBS = new Set(['WATCH', 'WATCHLIST', 'CONNECT', 'PROXY']);
const API_SERVER = 'kube-apiserver';

/** Names are upstream's; everything that the charts and the critical figures need, and nothing else. */
export const MEASURES = {
  apiRequests: { metric: 'apiserver_request_total', kind: 'counter' },
  apiFailures: {
    metric: 'apiserver_request_total',
    kind: 'counter',
    isCounted: (labels) => labelOf(labels, 'code').startsWith('5'),
  },
  apiDuration: {
    metric: 'apiserver_request_duration_seconds',
    kind: 'histogram',
    // Upstream observes watches too, which last as long as they are open.
    isCounted: (labels) => !LONG_RUNNING_VERBS.has(labelOf(labels, 'verb')),
  },
  apiInFlight: { metric: 'apiserver_current_inflight_requests', kind: 'gauge', by: 'request_kind' },
  apiRepeated: { metric: 'pilothouse_apiserver_repeated_failures_total', kind: 'counter', by: 'user' },
  apiWatchers: {
    metric: 'apiserver_longrunning_requests',
    kind: 'gauge',
    isCounted: (labels) => labelOf(labels, 'verb').startsWith('WATCH'),
  },
  processCpu: { metric: 'process_cpu_seconds_total', kind: 'counter' },
  processMemory: { metric: 'process_resident_memory_bytes', kind: 'gauge' },
  etcdPuts: { metric: 'etcd_mvcc_put_total', kind: 'counter' },
  etcdCommit: { metric: 'etcd_disk_backend_commit_duration_seconds', kind: 'histogram' },
  etcdFsync: { metric: 'etcd_disk_wal_fsync_duration_seconds', kind: 'histogram' },
  etcdRoundTrip: { metric: 'etcd_network_peer_round_trip_time_seconds', kind: 'histogram', by: 'To' },
  etcdLeaderChanges: { metric: 'etcd_server_leader_changes_seen_total', kind: 'counter' },
  etcdDbBytes: { metric: 'etcd_mvcc_db_total_size_in_bytes', kind: 'gauge' },
  etcdQuotaBytes: { metric: 'etcd_server_quota_backend_bytes', kind: 'gauge' },
  etcdProposalsPending: { metric: 'etcd_server_proposals_pending', kind: 'gauge' },
  etcdProposalsFailed: { metric: 'etcd_server_proposals_failed_total', kind: 'gauge' },
  etcdRevision: { metric: 'etcd_debugging_mvcc_current_revision', kind: 'gauge' },
  etcdCompactRevision: { metric: 'etcd_debugging_mvcc_compact_revision', kind: 'gauge' },
  schedulerAttempts: { metric: 'scheduler_schedule_attempts_total', kind: 'counter', by: 'result' },
  schedulerDuration: { metric: 'scheduler_scheduling_attempt_duration_seconds', kind: 'histogram' },
  schedulerPending: { metric: 'scheduler_pending_pods', kind: 'gauge', by: 'queue' },
  queueDepth: { metric: 'workqueue_depth', kind: 'gauge', by: 'name' },
  queueAdds: { metric: 'workqueue_adds_total', kind: 'counter', by: 'name' },
  queueTime: { metric: 'workqueue_queue_duration_seconds', kind: 'histogram', by: 'name' },
  nodePods: { metric: 'kubelet_running_pods', kind: 'gauge' },
  nodeCpu: { metric: 'node_cpu_usage_seconds_total', kind: 'counter' },
  nodeMemory: { metric: 'node_memory_working_set_bytes', kind: 'gauge' },
  /** Of API servers that are threads of their host: `process_*` of such a one is the whole host's. */
  containerCpu: {
    metric: 'container_cpu_usage_seconds_total',
    kind: 'counter',
    isCounted: (labels) => labelOf(labels, 'container') === API_SERVER,
  },
  containerMemory: {
    metric: 'container_memory_working_set_bytes',
    kind: 'gauge',
    isCounted: (labels) => labelOf(labels, 'container') === API_SERVER,
  },
} as const satisfies Record<string, Measure>;
export type MeasureId = keyof typeof MEASURES;

/** What is looked for in the answer of each component. */
const API: readonly MeasureId[] = [
  'apiRequests',
  'apiFailures',
  'apiDuration',
  'apiInFlight',
  'apiRepeated',
  'apiWatchers',
  'processCpu',
  'processMemory',
];
const QUEUES: readonly MeasureId[] = ['queueDepth', 'queueAdds', 'queueTime'];
export const MEASURES_OF: Readonly<Record<Component, readonly MeasureId[]>> = {
  'kube-apiserver': API,
  etcd: [
    'etcdPuts',
    'etcdCommit',
    'etcdFsync',
    'etcdRoundTrip',
    'etcdLeaderChanges',
    'etcdDbBytes',
    'etcdQuotaBytes',
    'etcdProposalsPending',
    'etcdProposalsFailed',
    'etcdRevision',
    'etcdCompactRevision',
  ],
  'kube-controller-manager': QUEUES,
  'cloud-controller-manager': QUEUES,
  'kube-scheduler': ['schedulerAttempts', 'schedulerDuration', 'schedulerPending'],
  kubelet: ['nodePods', 'nodeCpu', 'nodeMemory', 'containerCpu', 'containerMemory'],
  'kube-proxy': [],
};
