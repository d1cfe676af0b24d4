import { join } from 'node:path';
import { parseDurationMs } from '../../base/duration.ts';
import { ReasonError } from '../../base/errors.ts';
import { parseFlags, type FlagValues } from '../../base/flags.ts';
import type { LogLevel } from '../../base/log.ts';
import { ETCD_FLAGS } from './flags.ts';

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  readonly trustedCaFile: string;
  readonly requireClientCertificate: boolean;
  /** Empty: any name. */
  readonly allowedName: string;
}

export interface ListenUrl {
  readonly url: string;
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
}

export type AutoCompaction =
  | { readonly mode: 'off' }
  | { readonly mode: 'periodic'; readonly retentionMs: number }
  | { readonly mode: 'revision'; readonly retentionRevisions: number };

/** One member as its flags describe it, checked for contradictions. */
export interface MemberConfig {
  readonly name: string;
  readonly dataDirectory: string;
  readonly walDirectory: string;
  readonly snapshotCount: number;
  readonly snapshotCatchUpEntries: number;
  readonly heartbeatMs: number;
  readonly electionTimeoutMs: number;
  readonly initialElectionTickAdvance: boolean;
  readonly preVote: boolean;
  readonly listenPeers: readonly ListenUrl[];
  readonly listenClients: readonly ListenUrl[];
  readonly listenMetrics: readonly ListenUrl[];
  readonly advertisePeerUrls: readonly string[];
  readonly advertiseClientUrls: readonly string[];
  readonly initialCluster: string;
  readonly initialClusterState: 'new' | 'existing';
  readonly initialClusterToken: string;
  readonly strictReconfigCheck: boolean;
  readonly forceNewCluster: boolean;
  readonly quotaBytes: number;
  /** Undefined where it was left to us. */
  readonly backendBatchIntervalMs: number | undefined;
  readonly backendBatchLimit: number;
  readonly txnOperationsMax: number;
  readonly requestBytesMax: number;
  readonly concurrentStreamsMax: number;
  readonly autoCompaction: AutoCompaction;
  readonly clientTls: TlsFiles;
  readonly peerTls: TlsFiles;
  readonly tlsMinVersion: 'TLSv1.2' | 'TLSv1.3';
  readonly logLevel: LogLevel;
  readonly progressNotifyIntervalMs: number;
  readonly initialCorruptCheck: boolean;
  readonly corruptCheckMs: number;
  readonly compactHashCheck: boolean;
  readonly compactHashCheckMs: number;
  readonly leaseCheckpoint: boolean;
  readonly unsafeNoFsync: boolean;
}

const QUOTA_DEFAULT_BYTES = 2 * 1024 ** 3;
const BATCH_LIMIT_DEFAULT = 10_000;

const bad = (message: string): never => {
  throw new ReasonError('BadConfiguration', message);
};

const parseUrl = (flagName: string, url: string): ListenUrl => {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return bad(
      `--${flagName}: ${JSON.stringify(url)} is not a URL; it wants one such as https://127.0.0.1:2379`,
    );
  }
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')
    bad(`--${flagName}: ${url} must start with http:// or https://`);
  if (parsed.port === '') bad(`--${flagName}: ${url} must name a port`);
  if (parsed.pathname !== '/' && parsed.pathname !== '') bad(`--${flagName}: ${url} must not have a path`);
  return {
    url,
    secure: parsed.protocol === 'https:',
    host: parsed.hostname.replace(/^\[|\]$/g, ''),
    port: Number(parsed.port),
  };
};

const tlsFiles = (prefix: '' | 'peer-', urls: readonly ListenUrl[], files: TlsFiles): TlsFiles => {
  const secure = urls.some((url) => url.secure);
  if (secure && (files.certFile === '' || files.keyFile === ''))
    bad(`https:// listen URLs need --${prefix}cert-file and --${prefix}key-file`);
  if ((files.certFile === '') !== (files.keyFile === ''))
    bad(`--${prefix}cert-file and --${prefix}key-file must be given together`);
  if (files.requireClientCertificate && files.trustedCaFile === '')
    bad(`--${prefix}client-cert-auth needs --${prefix}trusted-ca-file`);
  return files;
};

const autoCompaction = (values: FlagValues<typeof ETCD_FLAGS>): AutoCompaction => {
  const retention = values['auto-compaction-retention'];
  if (retention === '0' || retention === '') return { mode: 'off' };
  if (values['auto-compaction-mode'] === 'revision') {
    const revisions = /^\d+$/.test(retention) ? Number(retention) : NaN;
    if (!Number.isSafeInteger(revisions))
      bad(`--auto-compaction-retention: ${retention} must be a number of revisions`);
    return { mode: 'revision', retentionRevisions: revisions };
  }
  // A bare number is hours, as it was before durations were accepted.
  const ms = /^\d+$/.test(retention) ? Number(retention) * 3_600_000 : parseDurationMs(retention);
  if (ms === undefined || ms < 0)
    return bad(`--auto-compaction-retention: ${retention} must be a duration such as 8h`);
  return { mode: 'periodic', retentionMs: ms };
};

const GATES = ['InitialCorruptCheck', 'CompactHashCheck', 'LeaseCheckpoint'] as const;

const featureGates = (settings: readonly string[]): ReadonlySet<string> => {
  const on = new Set<string>();
  for (const setting of settings) {
    const [name = '', value] = setting.split('=');
    if (!(GATES as readonly string[]).includes(name))
      bad(`--feature-gates: unknown gate ${name}; known are ${GATES.join(', ')}`);
    if (value !== 'true' && value !== 'false')
      bad(`--feature-gates: ${setting} must be ${name}=true or ${name}=false`);
    if (value === 'true') on.add(name);
  }
  return on;
};

const logLevel = (level: FlagValues<typeof ETCD_FLAGS>['log-level']): LogLevel =>
  level === 'panic' || level === 'fatal' ? 'error' : level;

/** Reads etcd's command line. Contradictions are one clear line that names the flags. */
export const readMemberConfig = (args: readonly string[]): MemberConfig => {
  const { values, given, positional } = parseFlags(ETCD_FLAGS, args);
  if (positional.length > 0) bad(`unexpected argument ${JSON.stringify(positional[0])}`);
  const name = values.name;
  const dataDirectory = values['data-dir'] || `${name}.etcd`;
  const urls = (flagName: 'listen-peer-urls' | 'listen-client-urls' | 'listen-metrics-urls'): ListenUrl[] =>
    values[flagName].map((url) => parseUrl(flagName, url));
  const listenPeers = urls('listen-peer-urls');
  const listenClients = urls('listen-client-urls');
  for (const flagName of ['initial-advertise-peer-urls', 'advertise-client-urls'] as const)
    for (const url of values[flagName]) parseUrl(flagName, url);
  if (given.has('listen-client-urls') && !given.has('advertise-client-urls'))
    bad('--advertise-client-urls is required when --listen-client-urls is set explicitly');
  const heartbeatMs = values['heartbeat-interval'];
  const electionTimeoutMs = values['election-timeout'];
  if (electionTimeoutMs < 5 * heartbeatMs)
    bad(
      `--election-timeout[${electionTimeoutMs}ms] should be at least as 5 times as --heartbeat-interval[${heartbeatMs}ms]`,
    );
  const initialCluster =
    values['initial-cluster'] ||
    values['initial-advertise-peer-urls'].map((url) => `${name}=${url}`).join(',');
  const gates = featureGates(values['feature-gates']);
  const renamed = <N extends keyof typeof values>(current: N, older: N): (typeof values)[N] =>
    given.has(older) && !given.has(current) ? values[older] : values[current];
  return {
    name,
    dataDirectory,
    walDirectory: values['wal-dir'] || join(dataDirectory, 'member', 'wal'),
    snapshotCount: values['snapshot-count'],
    snapshotCatchUpEntries: values['snapshot-catchup-entries'],
    heartbeatMs,
    electionTimeoutMs,
    initialElectionTickAdvance: values['initial-election-tick-advance'],
    preVote: values['pre-vote'],
    listenPeers,
    listenClients,
    listenMetrics: urls('listen-metrics-urls'),
    advertisePeerUrls: values['initial-advertise-peer-urls'],
    advertiseClientUrls: values['advertise-client-urls'],
    initialCluster,
    initialClusterState: values['initial-cluster-state'],
    initialClusterToken: values['initial-cluster-token'],
    strictReconfigCheck: values['strict-reconfig-check'],
    forceNewCluster: values['force-new-cluster'],
    quotaBytes: values['quota-backend-bytes'] || QUOTA_DEFAULT_BYTES,
    backendBatchIntervalMs: values['backend-batch-interval'] || undefined,
    backendBatchLimit: values['backend-batch-limit'] || BATCH_LIMIT_DEFAULT,
    txnOperationsMax: values['max-txn-ops'],
    requestBytesMax: values['max-request-bytes'],
    concurrentStreamsMax: values['max-concurrent-streams'],
    autoCompaction: autoCompaction(values),
    clientTls: tlsFiles('', listenClients, {
      certFile: values['cert-file'],
      keyFile: values['key-file'],
      trustedCaFile: values['trusted-ca-file'],
      requireClientCertificate: values['client-cert-auth'],
      allowedName: values['client-cert-allowed-hostname'],
    }),
    peerTls: tlsFiles('peer-', listenPeers, {
      certFile: values['peer-cert-file'],
      keyFile: values['peer-key-file'],
      trustedCaFile: values['peer-trusted-ca-file'],
      requireClientCertificate: values['peer-client-cert-auth'],
      allowedName: values['peer-cert-allowed-cn'],
    }),
    tlsMinVersion: values['tls-min-version'] === 'TLS1.3' ? 'TLSv1.3' : 'TLSv1.2',
    logLevel: logLevel(values['log-level']),
    progressNotifyIntervalMs: renamed(
      'watch-progress-notify-interval',
      'experimental-watch-progress-notify-interval',
    ),
    initialCorruptCheck: values['experimental-initial-corrupt-check'] || gates.has('InitialCorruptCheck'),
    corruptCheckMs: renamed('corrupt-check-time', 'experimental-corrupt-check-time'),
    compactHashCheck: values['experimental-compact-hash-check-enabled'] || gates.has('CompactHashCheck'),
    compactHashCheckMs: renamed('compact-hash-check-time', 'experimental-compact-hash-check-time'),
    leaseCheckpoint: values['experimental-enable-lease-checkpoint'] || gates.has('LeaseCheckpoint'),
    unsafeNoFsync: values['unsafe-no-fsync'],
  };
};
