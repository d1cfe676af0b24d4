import { expect, test } from 'vitest';
import { readMemberConfig } from './config.ts';

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
      { host: '127.0.0.1', port: 2379, secure: true },
      { host: '127.9.0.1', port: 2379, secure: true },
    ],
    listenMetrics: [{ host: '127.0.0.1', port: 2381, secure: false }],
    progressNotifyIntervalMs: 5000,
    initialCorruptCheck: true,
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
  [['--client-cert-auth'], '--trusted-ca-file'],
  [['--listen-peer-urls=ftp://127.0.0.1:1'], 'http:// or https://'],
  [['--listen-peer-urls=http://127.0.0.1'], 'must name a port'],
  [['--listen-peer-urls=nonsense'], 'is not a URL'],
  [['--listen-client-urls=http://127.0.0.1:2379'], '--advertise-client-urls is required'],
  [['--heartbeat-interval=500', '--election-timeout=1000'], 'at least as 5 times'],
  [['--feature-gates=Nonsense=true'], 'unknown gate Nonsense'],
  [['--auto-compaction-retention=soon'], 'must be a duration'],
  [['--enable-v2=true'], 'unknown flag: --enable-v2'],
  [['serve'], 'unexpected argument "serve"'],
])('%j is refused with a line that names the setting', (args, message) => {
  expect(() => readMemberConfig(args)).toThrow(message);
});
