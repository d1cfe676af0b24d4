import { join } from 'node:path';
import { parseDurationMs } from '../../base/duration.ts';
import { parseFlags, type FlagValues } from '../../base/flags.ts';
import type { LogLevel } from '../../base/log.ts';
import { authToken, type AuthToken } from './auth-token.ts';
import { bad } from './bad-configuration.ts';
import { discoveryOf, type DiscoveryConfig } from './discovery.ts';
import { featureGates } from './feature-gates.ts';
import { ETCD_FLAGS } from './flags.ts';
import type { FeatureGates } from './gate-names.ts';
import { parseUrl, type ListenUrl } from './listen-url.ts';
import { withNewerNames } from './older-names.ts';
import { REJECTED_FLAGS } from './rejected-flags.ts';
import {
  clientTlsFiles,
  peerTlsFiles,
  tlsParameters,
  type TlsFiles,
  type TlsParameters,
} from './tls-flags.ts';

export type { ListenUrl, TlsFiles, TlsParameters };

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
  /** 0: every segment is kept. */
  readonly walSegmentsKept: number;
  readonly heartbeatMs: number;
  readonly electionTimeoutMs: number;
  readonly initialElectionTickAdvance: boolean;
  readonly listenPeers: readonly ListenUrl[];
  readonly listenClients: readonly ListenUrl[];
  readonly listenMetrics: readonly ListenUrl[];
  readonly advertisePeerUrls: readonly string[];
  readonly advertiseClientUrls: readonly string[];
  readonly initialCluster: string;
  readonly initialClusterState: 'new' | 'existing';
  readonly initialClusterToken: string;
  /** Who belongs to the cluster is asked of another etcd, on the first start. */
  readonly discovery: DiscoveryConfig | undefined;
  readonly strictReconfigCheck: boolean;
  /** This member continues alone with what it has, and the others are removed. */
  readonly forceNewCluster: boolean;
  readonly quotaBytes: number;
  /** Undefined where it was left to us. */
  readonly backendBatchIntervalMs: number | undefined;
  readonly backendBatchLimit: number;
  readonly txnOperationsMax: number;
  readonly requestBytesMax: number;
  readonly concurrentStreamsMax: number;
  readonly keepalive: {
    readonly intervalMs: number;
    readonly timeoutMs: number;
    /** A client that pings more often is told to calm down and loses its connection. */
    readonly clientIntervalMinMs: number;
  };
  readonly gateway: boolean;
  readonly httpAccess: { readonly origins: readonly string[]; readonly hosts: readonly string[] };
  readonly autoCompaction: AutoCompaction;
  readonly clientTls: TlsFiles;
  readonly peerTls: TlsFiles;
  readonly tls: TlsParameters;
  readonly selfSignedValidityYears: number;
  /** `--peer-skip-client-san-verification` is not given: the address of a peer must be in its certificate. */
  readonly verifyPeerAddress: boolean;
  readonly authToken: AuthToken;
  readonly authTokenTtlMs: number;
  readonly bcryptCost: number;
  /** `--client-cert-auth`: the common name of a client certificate is a user, where a call carries no token. */
  readonly commonNameAuth: boolean;
  readonly logLevel: LogLevel;
  readonly metrics: 'basic' | 'extensive';
  readonly progressNotifyIntervalMs: number;
  readonly gates: FeatureGates;
  readonly corruptCheckMs: number;
  readonly compactHashCheckMs: number;
  readonly compaction: { readonly batchLimit: number; readonly pauseMs: number };
  readonly learnersMax: number;
  /** 0: never. */
  readonly bootstrapDefragBytes: number;
  /** What takes longer is logged; 0 logs none. */
  readonly slowApplyMs: number;
  readonly slowRequestMs: number;
  readonly unsafeNoFsync: boolean;
}

const QUOTA_DEFAULT_BYTES = 2 * 1024 ** 3;
const BATCH_LIMIT_DEFAULT = 10_000;
const MS_PER_SECOND = 1000;
/** As etcd counts them. */
const BYTES_PER_MEGABYTE = 1024 * 1024;

/** Before the table is asked, so that the line says why instead of "unknown flag". */
const refuseUnsupported = (args: readonly string[]): void => {
  for (const arg of args) {
    if (arg === '--') return;
    const name = /^--?([^=]+)/.exec(arg)?.[1] ?? '';
    if (Object.hasOwn(REJECTED_FLAGS, name)) bad(`--${name} is not supported: ${REJECTED_FLAGS[name]}`);
  }
};

/** Settings of which this member has one value: any other is an error, not a silence. */
const refuseOtherValues = (
  values: FlagValues<typeof ETCD_FLAGS>,
  given: ReadonlySet<keyof typeof ETCD_FLAGS>,
): void => {
  if (values['config-file'] !== '')
    bad('--config-file is read by `pilothouse component etcd`; a manifest gives the settings as flags');
  if (!values['pre-vote'])
    bad('--pre-vote=false is not supported: elections always ask before they raise the term');
  if (given.has('socket-reuse-address') && !values['socket-reuse-address'])
    bad('--socket-reuse-address=false is not supported: listeners always reuse addresses');
  if (values['log-format'] !== 'json') bad('--log-format=console is not supported: the log is JSON lines');
  if (values.logger !== 'zap') bad(`--logger=${values.logger} is not supported: only zap is`);
  const elsewhere = values['log-outputs'].find((output) => output !== 'default' && output !== 'stderr');
  if (elsewhere !== undefined)
    bad(`--log-outputs=${elsewhere} is not supported: the log goes to stderr; redirect it there`);
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

const logLevel = (level: FlagValues<typeof ETCD_FLAGS>['log-level']): LogLevel =>
  level === 'panic' || level === 'fatal' ? 'error' : level;

/** Reads etcd's command line. Contradictions are one clear line that names the flags. */
export const readMemberConfig = (args: readonly string[]): MemberConfig => {
  const named = withNewerNames(args).args;
  refuseUnsupported(named);
  const { values, given, positional } = parseFlags(ETCD_FLAGS, named);
  refuseOtherValues(values, given);
  if (positional.length > 0) bad(`unexpected argument ${JSON.stringify(positional[0])}`);
  const name = values.name;
  const dataDirectory = values['data-dir'] || `${name}.etcd`;
  const urls = (flagName: 'listen-peer-urls' | 'listen-client-urls' | 'listen-metrics-urls'): ListenUrl[] =>
    values[flagName].map((url) => parseUrl(flagName, url, { sockets: flagName !== 'listen-peer-urls' }));
  const listenPeers = urls('listen-peer-urls');
  const listenClients = urls('listen-client-urls');
  const listenMetrics = urls('listen-metrics-urls');
  for (const flagName of ['initial-advertise-peer-urls', 'advertise-client-urls'] as const)
    for (const url of values[flagName])
      parseUrl(flagName, url, { sockets: flagName === 'advertise-client-urls' });
  if (given.has('listen-client-urls') && !given.has('advertise-client-urls'))
    bad('--advertise-client-urls is required when --listen-client-urls is set explicitly');
  const heartbeatMs = values['heartbeat-interval'];
  const electionTimeoutMs = values['election-timeout'];
  if (electionTimeoutMs < 5 * heartbeatMs)
    bad(
      `--election-timeout[${electionTimeoutMs}ms] should be at least as 5 times as --heartbeat-interval[${heartbeatMs}ms]`,
    );
  const discovery = discoveryOf(values, given.has('initial-cluster'));
  const initialCluster =
    values['initial-cluster'] ||
    values['initial-advertise-peer-urls'].map((url) => `${name}=${url}`).join(',');
  return {
    name,
    dataDirectory,
    walDirectory: values['wal-dir'] || join(dataDirectory, 'member', 'wal'),
    snapshotCount: values['snapshot-count'],
    snapshotCatchUpEntries: values['snapshot-catchup-entries'],
    walSegmentsKept: values['max-wals'],
    heartbeatMs,
    electionTimeoutMs,
    initialElectionTickAdvance: values['initial-election-tick-advance'],
    listenPeers,
    listenClients,
    listenMetrics,
    advertisePeerUrls: values['initial-advertise-peer-urls'],
    advertiseClientUrls: values['advertise-client-urls'],
    initialCluster,
    initialClusterState: values['initial-cluster-state'],
    initialClusterToken: discovery?.token ?? values['initial-cluster-token'],
    discovery,
    strictReconfigCheck: values['strict-reconfig-check'],
    forceNewCluster: values['force-new-cluster'],
    quotaBytes: values['quota-backend-bytes'] || QUOTA_DEFAULT_BYTES,
    backendBatchIntervalMs: values['backend-batch-interval'] || undefined,
    backendBatchLimit: values['backend-batch-limit'] || BATCH_LIMIT_DEFAULT,
    txnOperationsMax: values['max-txn-ops'],
    requestBytesMax: values['max-request-bytes'],
    concurrentStreamsMax: values['max-concurrent-streams'],
    keepalive: {
      intervalMs: values['grpc-keepalive-interval'],
      timeoutMs: values['grpc-keepalive-timeout'],
      clientIntervalMinMs: values['grpc-keepalive-min-time'],
    },
    gateway: values['enable-grpc-gateway'],
    httpAccess: { origins: values.cors, hosts: values['host-whitelist'] },
    autoCompaction: autoCompaction(values),
    clientTls: clientTlsFiles(values, [...listenClients, ...listenMetrics]),
    peerTls: peerTlsFiles(values, listenPeers),
    selfSignedValidityYears: values['self-signed-cert-validity'],
    verifyPeerAddress: !values['peer-skip-client-san-verification'],
    tls: tlsParameters(values),
    authToken: authToken(values['auth-token']),
    authTokenTtlMs: values['auth-token-ttl'] * MS_PER_SECOND,
    bcryptCost: values['bcrypt-cost'],
    commonNameAuth: values['client-cert-auth'],
    logLevel: logLevel(values['log-level']),
    metrics: values.metrics,
    progressNotifyIntervalMs: values['watch-progress-notify-interval'],
    gates: featureGates(values, (flagName) => given.has(flagName as keyof typeof ETCD_FLAGS)),
    corruptCheckMs: values['corrupt-check-time'],
    compactHashCheckMs: values['compact-hash-check-time'],
    compaction: {
      batchLimit: values['compaction-batch-limit'],
      pauseMs: values['compaction-sleep-interval'],
    },
    learnersMax: values['max-learners'],
    bootstrapDefragBytes: values['bootstrap-defrag-threshold-megabytes'] * BYTES_PER_MEGABYTE,
    slowApplyMs: values['warning-apply-duration'],
    slowRequestMs: values['warning-unary-request-duration'],
    unsafeNoFsync: values['unsafe-no-fsync'],
  };
};
