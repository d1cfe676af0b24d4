const NO_FILES = 'a member keeps no snapshot files, its database is the snapshot';
const NO_V2 = 'there is no v2 API; use --discovery-endpoints and --discovery-token';
const NO_DNS = 'list the members in --initial-cluster, or use --discovery-endpoints';
const NO_KEEPALIVE = 'each question to the discovery service has --discovery-request-timeout';
const NO_TRACING = 'this member does not export traces';
const OWN_LOG = 'the log is JSON lines on standard error; rotate it where you collect it';
const NO_BBOLT = 'the database of this member is not bbolt';
const NOT_DIALLED = 'this member does not dial its own client port';
const NO_V3_DOWNGRADE = 'this member has one storage version';
const IGNORED_BY_ETCD = 'etcd accepts it and does nothing with it; remove it';

/**
 * Flags of etcd 3.6 that set something this member does not have, each with the reason. Giving one fails with one line:
 * a setting that is accepted and ignored is found out about too late.
 */
export const REJECTED_FLAGS: Readonly<Record<string, string>> = {
  'max-snapshots': NO_FILES,
  'backend-bbolt-freelist-type': NO_BBOLT,
  'memory-mlock': 'pages of this member cannot be locked in memory',
  'socket-reuse-port': 'a second listener on the same port would take connections from the first',
  'raft-read-timeout': 'timeouts between peers follow from --election-timeout',
  'raft-write-timeout': 'timeouts between peers follow from --election-timeout',
  discovery: NO_V2,
  'discovery-fallback': NO_V2,
  'discovery-proxy': NO_V2,
  'discovery-srv': NO_DNS,
  'discovery-srv-name': NO_DNS,
  'discovery-keepalive-time': NO_KEEPALIVE,
  'discovery-keepalive-timeout': NO_KEEPALIVE,
  'listen-client-http-urls': 'gRPC and HTTP share the ports of --listen-client-urls',
  'client-cert-file': NOT_DIALLED,
  'client-key-file': NOT_DIALLED,
  'enable-log-rotation': OWN_LOG,
  'log-rotation-config-json': OWN_LOG,
  'enable-pprof': 'this member has no Go profiles',
  'enable-distributed-tracing': NO_TRACING,
  'distributed-tracing-address': NO_TRACING,
  'distributed-tracing-service-name': NO_TRACING,
  'distributed-tracing-instance-id': NO_TRACING,
  'distributed-tracing-sampling-rate': NO_TRACING,
  'downgrade-check-time': NO_V3_DOWNGRADE,
  'v2-deprecation': 'there is no store of the v2 API',
  'cluster-active-size': IGNORED_BY_ETCD,
  'cluster-remove-delay': IGNORED_BY_ETCD,
  'cluster-sync-interval': IGNORED_BY_ETCD,
  config: IGNORED_BY_ETCD,
  force: IGNORED_BY_ETCD,
  'max-result-buffer': IGNORED_BY_ETCD,
  'max-retry-attempts': IGNORED_BY_ETCD,
  'peer-heartbeat-interval': IGNORED_BY_ETCD,
  'peer-election-timeout': IGNORED_BY_ETCD,
  'retry-interval': IGNORED_BY_ETCD,
  snapshot: IGNORED_BY_ETCD,
  v: IGNORED_BY_ETCD,
  vv: IGNORED_BY_ETCD,
};
