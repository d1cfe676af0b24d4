import { boolean, durationMs, flag, integer, list, oneOf, text } from '../../base/flags.ts';
import { FEATURE_GATES } from './gate-names.ts';

const port = (number: number): readonly string[] => [`http://localhost:${number}`];

/**
 * etcd's own flags, by name and default. Where our default differs the help says so. `readMemberConfig` reads each of
 * them; flags of etcd that set something this member does not have are in REJECTED_FLAGS instead.
 */
export const ETCD_FLAGS = {
  'config-file': flag(text, '', 'YAML file with the settings; flags and ETCD_* variables are then ignored'),

  // Member
  name: flag(text, 'default', 'human-readable name of this member'),
  'data-dir': flag(text, '', 'data directory of this member (default <name>.etcd)'),
  'wal-dir': flag(text, '', 'directory of the write-ahead log (default inside the data directory)'),
  'bootstrap-defrag-threshold-megabytes': flag(
    integer({ min: 0 }),
    0,
    'defragment at the start when it frees at least this much (0: never)',
  ),
  'snapshot-count': flag(integer({ min: 1 }), 10_000, 'applied entries between two snapshots'),
  'heartbeat-interval': flag(integer({ min: 1, max: 50_000 }), 100, 'milliseconds between heartbeats'),
  'election-timeout': flag(
    integer({ min: 1, max: 50_000 }),
    1000,
    'milliseconds without a leader before an election',
  ),
  'initial-election-tick-advance': flag(boolean, true, 'shorten the first election timeout after a start'),
  'listen-peer-urls': flag(list, port(2380), 'URLs to listen on for peers'),
  'listen-client-urls': flag(list, port(2379), 'URLs to listen on for clients'),
  'listen-metrics-urls': flag(list, [], 'additional URLs that serve /metrics and /health'),
  'max-wals': flag(
    integer({ min: 0 }),
    1,
    'log segments to keep, also those no longer needed (0: all; etcd keeps 5, and a start reads them all)',
  ),
  'quota-backend-bytes': flag(
    integer({ min: 0 }),
    0,
    'database size at which writes are rejected (0: 2 GiB)',
  ),
  'backend-batch-interval': flag(
    durationMs,
    0,
    'maximum time before a backend transaction is committed (0: 100ms, and 1s for a few writes)',
  ),
  'backend-batch-limit': flag(
    integer({ min: 0 }),
    0,
    'maximum operations before a backend commit (0: 10000)',
  ),
  'max-txn-ops': flag(integer({ min: 1 }), 128, 'maximum operations in a transaction'),
  'max-request-bytes': flag(integer({ min: 1 }), 1_572_864, 'maximum request size in bytes'),
  'max-concurrent-streams': flag(integer({ min: 1 }), 4_294_967_295, 'maximum concurrent streams per client'),
  'enable-grpc-gateway': flag(boolean, true, 'serve the API as JSON under /v3/ on the client ports'),
  'grpc-keepalive-min-time': flag(durationMs, 5000, 'minimum interval between pings of a client'),
  'grpc-keepalive-interval': flag(durationMs, 7_200_000, 'interval between pings to an idle client'),
  'grpc-keepalive-timeout': flag(durationMs, 20_000, 'timeout of these pings'),
  'socket-reuse-address': flag(boolean, false, 'listen on addresses in TIME_WAIT (always done)'),
  'pre-vote': flag(boolean, true, 'run a pre-vote before an election (cannot be disabled)'),
  'unsafe-no-fsync': flag(boolean, false, 'do not sync to disk: loses data on a crash'),

  // Clustering
  'initial-advertise-peer-urls': flag(list, port(2380), 'peer URLs advertised to the cluster'),
  'initial-cluster': flag(text, '', 'name=peerURL,... of all initial members (default this member only)'),
  'initial-cluster-state': flag(
    oneOf('new', 'existing'),
    'new',
    'new: bootstrap a cluster; existing: join one',
  ),
  'initial-cluster-token': flag(
    text,
    'etcd-cluster',
    'token that identifies the cluster while it bootstraps',
  ),
  'advertise-client-urls': flag(list, port(2379), 'client URLs advertised to the cluster'),
  'strict-reconfig-check': flag(boolean, true, 'reject membership changes that would lose quorum'),
  'force-new-cluster': flag(boolean, false, 'continue as a single-member cluster: remove all other members'),
  'max-learners': flag(integer({ min: 1 }), 1, 'maximum number of learners in the cluster'),
  'discovery-endpoints': flag(list, [], 'etcd endpoints of the v3 discovery service'),
  'discovery-token': flag(text, '', 'token of the cluster at the discovery service'),
  'discovery-dial-timeout': flag(durationMs, 2000, 'timeout for connecting to the discovery service'),
  'discovery-request-timeout': flag(durationMs, 5000, 'timeout of a request to the discovery service'),
  'discovery-insecure-transport': flag(boolean, true, 'allow plain text to the discovery service'),
  'discovery-insecure-skip-tls-verify': flag(
    boolean,
    false,
    'do not verify the certificate of the discovery service (for tests only)',
  ),
  'discovery-cert': flag(text, '', 'client certificate for the discovery service'),
  'discovery-key': flag(text, '', 'private key of this certificate'),
  'discovery-cacert': flag(text, '', 'CA of the discovery service'),
  'discovery-user': flag(text, '', 'username[:password] for the discovery service'),
  'discovery-password': flag(text, '', 'password for the discovery service'),
  'auto-compaction-retention': flag(text, '0', 'history to keep (0: all)'),
  'auto-compaction-mode': flag(
    oneOf('periodic', 'revision'),
    'periodic',
    'keep a time or a number of revisions',
  ),

  // Security
  'cert-file': flag(text, '', 'certificate presented to clients'),
  'key-file': flag(text, '', 'private key of this certificate'),
  'client-cert-auth': flag(boolean, false, 'require client certificates'),
  'trusted-ca-file': flag(text, '', 'CA of client certificates'),
  'client-cert-allowed-hostname': flag(
    list,
    [],
    'host names, one of which a client certificate must be valid for',
  ),
  'auto-tls': flag(boolean, false, 'create a self-signed certificate for clients where none is given'),
  'client-crl-file': flag(text, '', 'certificate revocation lists of the client CAs; must be current'),
  'peer-cert-file': flag(text, '', 'certificate presented to peers'),
  'peer-key-file': flag(text, '', 'private key of this certificate'),
  'peer-client-cert-file': flag(text, '', 'certificate for dialling peers (default --peer-cert-file)'),
  'peer-client-key-file': flag(text, '', 'private key of this certificate'),
  'peer-auto-tls': flag(boolean, false, 'create a self-signed certificate for peers where none is given'),
  'self-signed-cert-validity': flag(
    integer({ min: 1, max: 100 }),
    1,
    'years that such certificates are valid',
  ),
  'peer-client-cert-auth': flag(boolean, false, 'require peer certificates'),
  'peer-trusted-ca-file': flag(text, '', 'CA of peer certificates'),
  'peer-crl-file': flag(text, '', 'certificate revocation lists of the peer CAs; must be current'),
  'peer-cert-allowed-cn': flag(list, [], 'common names, one of which a peer certificate must have'),
  'peer-cert-allowed-hostname': flag(
    list,
    [],
    'host names, one of which a peer certificate must be valid for',
  ),
  'peer-skip-client-san-verification': flag(
    boolean,
    false,
    'accept peer certificates whose subject alternative names do not include the address of the peer',
  ),
  cors: flag(
    list,
    [],
    'origins whose pages may send requests, or * (default none; etcd allows every page by default)',
  ),
  'host-whitelist': flag(list, ['*'], 'host names accepted in HTTP requests without TLS'),
  'cipher-suites': flag(list, [], "TLS 1.2 suites by Go's names (default ECDHE with AES-GCM or ChaCha20)"),
  'tls-min-version': flag(oneOf('TLS1.2', 'TLS1.3'), 'TLS1.2', 'minimum TLS version'),
  'tls-max-version': flag(oneOf('', 'TLS1.2', 'TLS1.3'), '', 'maximum TLS version'),

  // Auth
  'auth-token': flag(text, 'simple', 'simple, or jwt,sign-method=...,priv-key=...,pub-key=...,ttl=...'),
  'auth-token-ttl': flag(
    integer({ min: 1 }),
    300,
    'lifetime of simple tokens in seconds, renewed by each use',
  ),
  'bcrypt-cost': flag(integer({ min: 4, max: 31 }), 10, 'cost of hashing a password'),

  // Logging and metrics
  logger: flag(oneOf('zap'), 'zap', 'log format (JSON lines)'),
  'log-outputs': flag(list, ['default'], 'log output: default or stderr, which are the same'),
  'log-level': flag(oneOf('debug', 'info', 'warn', 'error', 'panic', 'fatal'), 'info', 'minimum log level'),
  'log-format': flag(oneOf('json', 'console'), 'json', 'log format (json only)'),
  'warning-apply-duration': flag(durationMs, 100, 'log requests that take longer to apply'),
  'warning-unary-request-duration': flag(durationMs, 300, 'log unary requests that take longer'),
  metrics: flag(oneOf('basic', 'extensive'), 'basic', 'extensive adds histograms for each server call'),

  // Checks and notices
  'watch-progress-notify-interval': flag(
    durationMs,
    600_000,
    'interval between progress notifications of idle watches',
  ),
  'corrupt-check-time': flag(durationMs, 0, 'interval between corruption checks of all members (0: off)'),
  'compact-hash-check-time': flag(durationMs, 60_000, 'interval between checks of compaction hashes'),
  'compaction-batch-limit': flag(integer({ min: 1 }), 1000, 'revisions removed in one step of a compaction'),
  'compaction-sleep-interval': flag(durationMs, 10, 'pause between two steps of a compaction'),
  'snapshot-catchup-entries': flag(
    integer({ min: 0 }),
    5000,
    'entries kept for slow followers after a snapshot',
  ),
  'feature-gates': flag(
    list,
    [],
    `Name=true|false,... of ${Object.keys(FEATURE_GATES).join(', ')}`,
    (before, next) => [...before, ...next],
  ),
  'experimental-initial-corrupt-check': flag(boolean, false, 'older name of InitialCorruptCheck'),
  'experimental-compact-hash-check-enabled': flag(boolean, false, 'older name of CompactHashCheck'),
  'experimental-enable-lease-checkpoint': flag(boolean, false, 'older name of LeaseCheckpoint'),
  'experimental-enable-lease-checkpoint-persist': flag(
    boolean,
    false,
    'older name of LeaseCheckpointPersist',
  ),
  'experimental-stop-grpc-service-on-defrag': flag(boolean, false, 'older name of StopGRPCServiceOnDefrag'),
  'experimental-txn-mode-write-with-shared-buffer': flag(
    boolean,
    true,
    'older name of TxnModeWriteWithSharedBuffer',
  ),

  version: flag(boolean, false, 'print the version and exit'),
  help: flag(boolean, false, 'print this help and exit'),
} as const;
