import { boolean, durationMs, flag, integer, list, oneOf, text } from '../../base/flags.ts';

const port = (number: number): readonly string[] => [`http://localhost:${number}`];

/**
 * etcd's own flags, by name and default. Where our default differs the help says so. `readMemberConfig` reads each of
 * them; flags of etcd that set something this member does not have are in REJECTED_FLAGS instead.
 */
export const ETCD_FLAGS = {
  'config-file': flag(text, '', 'YAML file with the settings; flags and ETCD_* variables are then ignored'),

  // Member
  name: flag(text, 'default', 'human-readable name of this member'),
  'data-dir': flag(text, '', 'folder of this member (default <name>.etcd)'),
  'wal-dir': flag(text, '', 'folder of the write-ahead log (default inside the data folder)'),
  'snapshot-count': flag(integer({ min: 1 }), 10_000, 'applied entries between two snapshots'),
  'heartbeat-interval': flag(integer({ min: 1, max: 50_000 }), 100, 'milliseconds between heartbeats'),
  'election-timeout': flag(
    integer({ min: 1, max: 50_000 }),
    1000,
    'milliseconds without a leader before an election',
  ),
  'initial-election-tick-advance': flag(boolean, true, 'start with the election timer nearly run out'),
  'listen-peer-urls': flag(list, port(2380), 'where to listen for peers'),
  'listen-client-urls': flag(list, port(2379), 'where to listen for clients'),
  'listen-metrics-urls': flag(list, [], 'where else to answer /metrics and /health'),
  'max-wals': flag(
    integer({ min: 0 }),
    1,
    'log segments to keep, also those no longer needed (0: all; etcd keeps 5, and a start reads them all)',
  ),
  'quota-backend-bytes': flag(integer({ min: 0 }), 0, 'size at which writes are refused (0: 2 GiB)'),
  'backend-batch-interval': flag(
    durationMs,
    0,
    'longest time before a backend transaction is committed (0: 100ms, and 1s for a few writes)',
  ),
  'backend-batch-limit': flag(
    integer({ min: 0 }),
    0,
    'most operations that wait for a commit of the backend (0: 10000)',
  ),
  'max-txn-ops': flag(integer({ min: 1 }), 128, 'most operations in one transaction'),
  'max-request-bytes': flag(integer({ min: 1 }), 1_572_864, 'largest request a client may send'),
  'max-concurrent-streams': flag(integer({ min: 1 }), 4_294_967_295, 'streams a client may open at once'),
  'enable-grpc-gateway': flag(boolean, true, 'serve the API as JSON under /v3/ on the client ports'),
  'grpc-keepalive-min-time': flag(durationMs, 5000, 'shortest time between pings of a client'),
  'grpc-keepalive-interval': flag(durationMs, 7_200_000, 'how often to ping a quiet client'),
  'grpc-keepalive-timeout': flag(durationMs, 20_000, 'how long to wait for its answer'),
  'pre-vote': flag(boolean, true, 'ask before raising the term (cannot be turned off)'),
  'unsafe-no-fsync': flag(boolean, false, 'do not sync to disk: loses data on a crash'),

  // Clustering
  'initial-advertise-peer-urls': flag(list, port(2380), 'where peers reach this member'),
  'initial-cluster': flag(
    text,
    '',
    'name=peerURL,... of every member at the start (default this member alone)',
  ),
  'initial-cluster-state': flag(oneOf('new', 'existing'), 'new', 'found a cluster, or join one'),
  'initial-cluster-token': flag(text, 'etcd-cluster', 'tells clusters with the same addresses apart'),
  'advertise-client-urls': flag(list, port(2379), 'where clients reach this member'),
  'strict-reconfig-check': flag(boolean, true, 'refuse membership changes that would cost the quorum'),
  'force-new-cluster': flag(boolean, false, 'not supported: restore a snapshot of the last member instead'),
  'auto-compaction-retention': flag(text, '0', 'history to keep (0: all)'),
  'auto-compaction-mode': flag(
    oneOf('periodic', 'revision'),
    'periodic',
    'keep a time or a number of revisions',
  ),

  // Security
  'cert-file': flag(text, '', 'certificate shown to clients'),
  'key-file': flag(text, '', 'its key'),
  'client-cert-auth': flag(boolean, false, 'clients must show a certificate'),
  'trusted-ca-file': flag(text, '', 'authority of client certificates'),
  'client-cert-allowed-hostname': flag(
    list,
    [],
    'host names, one of which a client certificate must be valid for',
  ),
  'peer-cert-file': flag(text, '', 'certificate shown to peers'),
  'peer-key-file': flag(text, '', 'its key'),
  'peer-client-cert-auth': flag(boolean, false, 'peers must show a certificate'),
  'peer-trusted-ca-file': flag(text, '', 'authority of peer certificates'),
  'peer-cert-allowed-cn': flag(list, [], 'common names, one of which a peer certificate must have'),
  'peer-cert-allowed-hostname': flag(
    list,
    [],
    'host names, one of which a peer certificate must be valid for',
  ),
  cors: flag(
    list,
    [],
    'origins whose pages may send requests, or * (default none; etcd allows every page by default)',
  ),
  'host-whitelist': flag(list, ['*'], 'host names accepted in HTTP requests without TLS'),
  'cipher-suites': flag(list, [], "TLS 1.2 suites by Go's names (default ECDHE with AES-GCM or ChaCha20)"),
  'tls-min-version': flag(oneOf('TLS1.2', 'TLS1.3'), 'TLS1.2', 'oldest TLS accepted'),
  'tls-max-version': flag(oneOf('', 'TLS1.2', 'TLS1.3'), '', 'newest TLS accepted'),

  // Auth
  'auth-token': flag(text, 'simple', 'simple, or jwt,sign-method=...,priv-key=...,pub-key=...,ttl=...'),
  'auth-token-ttl': flag(
    integer({ min: 1 }),
    300,
    'lifetime of simple tokens in seconds, renewed by each use',
  ),
  'bcrypt-cost': flag(integer({ min: 4, max: 31 }), 10, 'cost of hashing a password'),

  // Logging and metrics
  logger: flag(oneOf('zap'), 'zap', 'kind of log (JSON lines)'),
  'log-outputs': flag(list, ['default'], 'where the log goes: default or stderr, which are the same'),
  'log-level': flag(oneOf('debug', 'info', 'warn', 'error', 'panic', 'fatal'), 'info', 'least level written'),
  metrics: flag(oneOf('basic', 'extensive'), 'basic', 'extensive adds histograms for each server call'),

  // Checks and notices; each also under the experimental name it had in etcd 3.5
  'watch-progress-notify-interval': flag(
    durationMs,
    600_000,
    'time between progress notices of idle watches',
  ),
  'experimental-watch-progress-notify-interval': flag(
    durationMs,
    600_000,
    'older name of --watch-progress-notify-interval',
  ),
  'experimental-initial-corrupt-check': flag(boolean, false, 'compare hashes with the peers before serving'),
  'corrupt-check-time': flag(durationMs, 0, 'time between hash comparisons of all members (0: off)'),
  'experimental-corrupt-check-time': flag(durationMs, 0, 'older name of --corrupt-check-time'),
  'compact-hash-check-time': flag(durationMs, 60_000, 'time between comparisons of compaction hashes'),
  'experimental-compact-hash-check-enabled': flag(
    boolean,
    false,
    'compare compaction hashes between members',
  ),
  'experimental-compact-hash-check-time': flag(durationMs, 60_000, 'older name of --compact-hash-check-time'),
  'experimental-enable-lease-checkpoint': flag(
    boolean,
    false,
    'carry the remaining time of leases across leader changes',
  ),
  'feature-gates': flag(
    list,
    [],
    'Name=true|false,... of InitialCorruptCheck, CompactHashCheck, LeaseCheckpoint',
  ),
  'snapshot-catchup-entries': flag(
    integer({ min: 0 }),
    5000,
    'entries kept for slow followers after a snapshot',
  ),

  version: flag(boolean, false, 'print the version and end'),
  help: flag(boolean, false, 'print this help and end'),
} as const;
