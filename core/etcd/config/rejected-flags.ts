const NO_FILES = 'a member keeps no snapshot files, its database is the snapshot';
const NO_DISCOVERY = 'list the members in --initial-cluster instead';
const NO_TRACING = 'this member does not export traces';
const OWN_LOG = 'the log is JSON lines on standard error; rotate it where you collect it';
const NO_BBOLT = 'the database of this member is not bbolt';
const NO_AUTO_TLS =
  'create certificates and name them with --cert-file, --peer-cert-file and their neighbours';
const NO_V3_DOWNGRADE = 'this member has one storage version';

/**
 * Flags of etcd 3.6 that set something this member does not have, each with the reason. Giving one fails with one line:
 * a setting that is accepted and ignored is found out about too late.
 */
export const REJECTED_FLAGS: Readonly<Record<string, string>> = {
  'max-snapshots': NO_FILES,
  'backend-bbolt-freelist-type': NO_BBOLT,
  'memory-mlock': 'pages of this member cannot be locked in memory',
  'bootstrap-defrag-threshold-megabytes': 'defragment a running member with etcdctl defrag',
  'socket-reuse-port': 'a second listener on the same port would take connections from the first',
  'socket-reuse-address': 'listeners always reuse addresses in TIME_WAIT',
  'max-learners': 'a cluster has at most one learner',
  'compaction-batch-limit': 'compactions pause automatically while clients wait',
  'compaction-sleep-interval': 'compactions pause automatically while clients wait',
  'raft-read-timeout': 'timeouts between peers follow from --election-timeout',
  'raft-write-timeout': 'timeouts between peers follow from --election-timeout',
  discovery: NO_DISCOVERY,
  'discovery-endpoints': NO_DISCOVERY,
  'discovery-token': NO_DISCOVERY,
  'discovery-dial-timeout': NO_DISCOVERY,
  'discovery-request-timeout': NO_DISCOVERY,
  'discovery-keepalive-time': NO_DISCOVERY,
  'discovery-keepalive-timeout': NO_DISCOVERY,
  'discovery-insecure-transport': NO_DISCOVERY,
  'discovery-insecure-skip-tls-verify': NO_DISCOVERY,
  'discovery-cert': NO_DISCOVERY,
  'discovery-key': NO_DISCOVERY,
  'discovery-cacert': NO_DISCOVERY,
  'discovery-user': NO_DISCOVERY,
  'discovery-password': NO_DISCOVERY,
  'discovery-srv': NO_DISCOVERY,
  'discovery-srv-name': NO_DISCOVERY,
  'discovery-fallback': NO_DISCOVERY,
  'discovery-proxy': NO_DISCOVERY,
  'listen-client-http-urls': 'gRPC and HTTP share the ports of --listen-client-urls',
  'client-cert-file': 'peers and clients are shown --peer-cert-file and --cert-file',
  'client-key-file': 'peers and clients are shown --peer-cert-file and --cert-file',
  'peer-client-cert-file': 'peers are dialled with --peer-cert-file',
  'peer-client-key-file': 'peers are dialled with --peer-cert-file',
  'auto-tls': NO_AUTO_TLS,
  'peer-auto-tls': NO_AUTO_TLS,
  'self-signed-cert-validity': NO_AUTO_TLS,
  'peer-skip-client-san-verification':
    'the addresses in certificates of peers are not compared with the connection',
  'log-format': OWN_LOG,
  'enable-log-rotation': OWN_LOG,
  'log-rotation-config-json': OWN_LOG,
  'enable-pprof': 'this member has no Go profiles',
  'enable-distributed-tracing': NO_TRACING,
  'distributed-tracing-address': NO_TRACING,
  'distributed-tracing-service-name': NO_TRACING,
  'distributed-tracing-instance-id': NO_TRACING,
  'distributed-tracing-sampling-rate': NO_TRACING,
  'downgrade-check-time': NO_V3_DOWNGRADE,
  'warning-apply-duration': 'slow requests are counted in the metrics, not logged',
  'warning-unary-request-duration': 'slow requests are counted in the metrics, not logged',
};
