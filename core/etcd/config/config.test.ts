import { expect, test } from 'vitest';
import { readMemberConfig } from './config.ts';
import { ETCD_FLAGS } from './flags.ts';
import { REJECTED_FLAGS } from './rejected-flags.ts';

/** What kubeadm writes into etcd's static pod. */
const KUBEADM = [
  '--advertise-client-urls=https://127.9.0.1:2379',
  '--cert-file=/pki/etcd/server.crt',
  '--client-cert-auth=true',
  '--data-dir=/var/lib/etcd',
  '--feature-gates=InitialCorruptCheck=true',
  '--initial-advertise-peer-urls=https://127.9.0.1:2380',
  '--initial-cluster=cp-1=https://127.9.0.1:2380',
  '--key-file=/pki/etcd/server.key',
  '--listen-client-urls=https://127.0.0.1:2379,https://127.9.0.1:2379',
  '--listen-metrics-urls=http://127.0.0.1:2381',
  '--listen-peer-urls=https://127.9.0.1:2380',
  '--name=cp-1',
  '--peer-cert-file=/pki/etcd/peer.crt',
  '--peer-client-cert-auth=true',
  '--peer-key-file=/pki/etcd/peer.key',
  '--peer-trusted-ca-file=/pki/etcd/ca.crt',
  '--snapshot-count=10000',
  '--trusted-ca-file=/pki/etcd/ca.crt',
  '--watch-progress-notify-interval=5s',
];

test('the flags of kubeadm are understood', () => {
  expect(readMemberConfig(KUBEADM)).toMatchObject({
    name: 'cp-1',
    dataDirectory: '/var/lib/etcd',
    listenClients: [
      { address: { host: '127.0.0.1', port: 2379 }, secure: true },
      { address: { host: '127.9.0.1', port: 2379 }, secure: true },
    ],
    listenMetrics: [{ address: { host: '127.0.0.1', port: 2381 }, secure: false }],
    progressNotifyIntervalMs: 5000,
    gates: { InitialCorruptCheck: true, CompactHashCheck: false, TxnModeWriteWithSharedBuffer: true },
    clientTls: { requireClientCertificate: true, trustedCaFile: '/pki/etcd/ca.crt' },
    autoCompaction: { mode: 'off' },
    quotaBytes: 2 * 1024 ** 3,
  });
});

test('without flags it is a cluster of one on the standard ports', () => {
  expect(readMemberConfig([])).toMatchObject({
    name: 'default',
    dataDirectory: 'default.etcd',
    initialCluster: 'default=http://localhost:2380',
  });
});

test.each([
  ['8', 'periodic', { mode: 'periodic', retentionMs: 8 * 3_600_000 }],
  ['30m', 'periodic', { mode: 'periodic', retentionMs: 1_800_000 }],
  ['1000', 'revision', { mode: 'revision', retentionRevisions: 1000 }],
  ['0', 'revision', { mode: 'off' }],
])('a retention of %s in %s mode is read', (retention, mode, expected) => {
  const args = [`--auto-compaction-retention=${retention}`, `--auto-compaction-mode=${mode}`];
  expect(readMemberConfig(args).autoCompaction).toEqual(expected);
});

test.each([
  [
    ['--listen-client-urls=https://127.0.0.1:2379', '--advertise-client-urls=https://127.0.0.1:2379'],
    '--cert-file',
  ],
  [['--listen-metrics-urls=https://127.0.0.1:2381'], '--cert-file'],
  [['--client-cert-auth'], '--trusted-ca-file'],
  [['--listen-peer-urls=ftp://127.0.0.1:1'], 'http:// or https://'],
  [['--listen-peer-urls=http://127.0.0.1'], 'must name a port'],
  [['--listen-peer-urls=nonsense'], 'is not a URL'],
  [['--listen-client-urls=http://127.0.0.1:2379'], '--advertise-client-urls is required'],
  [['--heartbeat-interval=500', '--election-timeout=1000'], 'at least as 5 times'],
  [['--feature-gates=Nonsense=true'], 'unknown gate Nonsense'],
  [['--auto-compaction-retention=soon'], 'must be a duration'],
  [['--enable-v2=true'], 'unknown flag: --enable-v2'],
  [['--max-snapshots=5'], '--max-snapshots is not supported: a member keeps no snapshot files'],
  [['--name', 'a', '-enable-pprof'], '--enable-pprof is not supported'],
  [['--experimental-memory-mlock'], '--memory-mlock is not supported'],
  [['--peer-auto-tls', '--peer-trusted-ca-file=/ca.crt'], 'exclude each other'],
  [['--listen-peer-urls=unix:///run/etcd.sock'], 'http:// or https://'],
  [[`--listen-metrics-urls=unix:///${'a'.repeat(120)}`], 'at most 107 bytes'],
  [['--discovery-token=t'], 'both --discovery-token and --discovery-endpoints must be set'],
  [['--discovery-token=t', '--discovery-endpoints=/x'], 'must be host:port'],
  [
    ['--discovery-token=t', '--discovery-endpoints=a:1', '--initial-cluster=a=http://a:2380'],
    'multiple discovery or bootstrap flags are set',
  ],
  [['--discovery-token=t', '--discovery-endpoints=a:1', '--discovery-user=u'], 'needs a password'],
  [['--feature-gates=LeaseCheckpointPersist=true'], 'requires enabling feature gate LeaseCheckpoint'],
  [
    ['--feature-gates=CompactHashCheck=true', '--experimental-compact-hash-check-enabled=false'],
    'cannot specify both flags',
  ],
  [['--experimental-txn-mode-write-with-shared-buffer=false'], 'is not supported'],
  [['--log-format=console'], '--log-format=console is not supported'],
  [['--pre-vote=false'], '--pre-vote=false is not supported'],
  [['--socket-reuse-address=false'], '--socket-reuse-address=false is not supported'],
  [['--log-outputs=stdout'], '--log-outputs=stdout is not supported'],
  [['--log-outputs=/var/log/etcd.log'], 'is not supported: the log goes to stderr'],
  [['--logger=capnslog'], '--logger'],
  [
    ['--tls-min-version=TLS1.3', '--tls-max-version=TLS1.2'],
    'min version (TLS1.3) is greater than max version (TLS1.2)',
  ],
  [['--tls-min-version=TLS1.3', '--cipher-suites=TLS_AES_128_GCM_SHA256'], 'when only TLS1.3 is enabled'],
  [['--cipher-suites=TLS_RSA_WITH_RC4_128_SHA'], 'unexpected TLS cipher suite "TLS_RSA_WITH_RC4_128_SHA"'],
  [['--client-cert-allowed-hostname=client.local'], 'need --trusted-ca-file'],
  [['--peer-cert-allowed-cn=a', '--peer-cert-allowed-hostname=b'], 'exclude each other'],
  [['serve'], 'unexpected argument "serve"'],
])('%j is refused with a line that names the setting', (args, message) => {
  expect(() => readMemberConfig(args)).toThrow(message);
});

test('limits, keepalive and names of certificates reach the member', () => {
  const config = readMemberConfig([
    ...KUBEADM,
    ...['--max-wals=7', '--backend-batch-limit=12', '--unsafe-no-fsync', '--metrics=extensive'],
    ...['--grpc-keepalive-min-time=1s', '--grpc-keepalive-interval=2s', '--grpc-keepalive-timeout=3s'],
    ...['--client-cert-allowed-hostname=a.local,b.local', '--peer-cert-allowed-cn=peer-1,peer-2'],
    ...['--tls-max-version=TLS1.2', '--cipher-suites=TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'],
  ]);
  expect(config).toMatchObject({
    walSegmentsKept: 7,
    backendBatchLimit: 12,
    unsafeNoFsync: true,
    metrics: 'extensive',
    keepalive: { clientIntervalMinMs: 1000, intervalMs: 2000, timeoutMs: 3000 },
    clientTls: { allowed: { hostnames: ['a.local', 'b.local'] } },
    peerTls: { allowed: { commonNames: ['peer-1', 'peer-2'], hostnames: [] } },
    tls: { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' },
  });
  expect(config.tls.ciphers.split(':').slice(3)).toEqual(['ECDHE-RSA-AES256-GCM-SHA384']);
});

test('an authority alone demands certificates, as with etcd', () => {
  const args = KUBEADM.filter((arg) => !arg.includes('client-cert-auth'));
  expect(readMemberConfig(args)).toMatchObject({
    clientTls: { requireClientCertificate: true },
    peerTls: { requireClientCertificate: true },
  });
});

/** Every flag of etcd 3.6. */
const ETCD_3_6 = `
  advertise-client-urls auth-token auth-token-ttl auto-compaction-mode auto-compaction-retention auto-tls
  backend-batch-interval backend-batch-limit backend-bbolt-freelist-type bcrypt-cost
  bootstrap-defrag-threshold-megabytes cert-file cipher-suites client-cert-allowed-hostname
  client-cert-auth client-cert-file client-crl-file client-key-file cluster-active-size cluster-remove-delay
  cluster-sync-interval compact-hash-check-time config discovery discovery-proxy force max-result-buffer
  max-retry-attempts peer-election-timeout peer-heartbeat-interval retry-interval snapshot v v2-deprecation vv
  experimental-compact-hash-check-enabled experimental-enable-lease-checkpoint
  experimental-enable-lease-checkpoint-persist experimental-initial-corrupt-check
  experimental-stop-grpc-service-on-defrag experimental-txn-mode-write-with-shared-buffer
  compaction-batch-limit compaction-sleep-interval config-file corrupt-check-time cors data-dir
  discovery-cacert discovery-cert discovery-dial-timeout discovery-endpoints discovery-fallback
  discovery-insecure-skip-tls-verify discovery-insecure-transport discovery-keepalive-time
  discovery-keepalive-timeout discovery-key discovery-password discovery-request-timeout discovery-srv
  discovery-srv-name discovery-token discovery-user distributed-tracing-address
  distributed-tracing-instance-id distributed-tracing-sampling-rate distributed-tracing-service-name
  downgrade-check-time election-timeout enable-distributed-tracing enable-grpc-gateway enable-log-rotation
  enable-pprof feature-gates force-new-cluster grpc-keepalive-interval grpc-keepalive-min-time
  grpc-keepalive-timeout heartbeat-interval host-whitelist initial-advertise-peer-urls initial-cluster
  initial-cluster-state initial-cluster-token initial-election-tick-advance key-file
  listen-client-http-urls listen-client-urls listen-metrics-urls listen-peer-urls log-format log-level
  log-outputs log-rotation-config-json logger max-concurrent-streams max-learners max-request-bytes
  max-snapshots max-txn-ops max-wals memory-mlock metrics name peer-auto-tls peer-cert-allowed-cn
  peer-cert-allowed-hostname peer-cert-file peer-client-cert-auth peer-client-cert-file
  peer-client-key-file peer-crl-file peer-key-file peer-skip-client-san-verification peer-trusted-ca-file
  pre-vote quota-backend-bytes raft-read-timeout raft-write-timeout self-signed-cert-validity
  snapshot-catchup-entries snapshot-count socket-reuse-address socket-reuse-port strict-reconfig-check
  tls-max-version tls-min-version trusted-ca-file unsafe-no-fsync version wal-dir warning-apply-duration
  warning-unary-request-duration watch-progress-notify-interval
`;

test('every flag of etcd 3.6 is declared or rejected with a reason, and none is both', () => {
  const names = ETCD_3_6.trim().split(/\s+/);
  const declared = names.filter((name) => Object.hasOwn(ETCD_FLAGS, name));
  const rejected = names.filter((name) => Object.hasOwn(REJECTED_FLAGS, name));
  expect([...declared, ...rejected].sort()).toEqual([...names].sort());
});

test('names that etcd 3.5 had count where the newer name is not given', () => {
  const config = readMemberConfig([
    ...['--experimental-compaction-batch-limit', '7', '--experimental-corrupt-check-time=2m'],
    ...['--snapshot-catchup-entries=9', '--experimental-snapshot-catchup-entries=8'],
    ...['--experimental-enable-lease-checkpoint', '--experimental-peer-skip-client-san-verification'],
  ]);
  expect(config).toMatchObject({
    compaction: { batchLimit: 7, pauseMs: 10 },
    corruptCheckMs: 120_000,
    snapshotCatchUpEntries: 9,
    gates: { LeaseCheckpoint: true },
    verifyPeerAddress: false,
  });
});

test('a Unix socket is a path, with TLS or without', () => {
  const config = readMemberConfig([
    ...['--listen-client-urls=unix:///run/etcd.sock,unixs://etcd.sock', '--auto-tls'],
    '--advertise-client-urls=unix:///run/etcd.sock',
  ]);
  expect(config.listenClients).toMatchObject([
    { secure: false, address: { path: '/run/etcd.sock' } },
    { secure: true, address: { path: 'etcd.sock' } },
  ]);
});

test('a discovery service takes the place of the list of members', () => {
  const args = ['--name=a', '--discovery-token=t', '--discovery-endpoints=https://[::1]:2379,b:1'];
  const config = readMemberConfig([...args, '--discovery-user=root:secret']);
  expect(config).toMatchObject({
    initialCluster: 'a=http://localhost:2380',
    initialClusterToken: 't',
    discovery: {
      endpoints: [
        { secure: true, host: '::1', port: 2379 },
        { secure: false, host: 'b', port: 1 },
      ],
      user: { name: 'root', password: 'secret' },
    },
  });
});
