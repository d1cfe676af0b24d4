import { join } from 'node:path';
import { parseDurationMs } from '../../base/duration.ts';
import { ReasonError } from '../../base/errors.ts';
import { parseFlags, type FlagValues } from '../../base/flags.ts';
import type { LogLevel } from '../../base/log.ts';
import type { AllowedNames } from '../../base/node/certificate-names.ts';
import { knownSuites, tlsSettings, unknownSuiteIn, type TlsVersion } from '../../base/node/tls-settings.ts';
import { authToken, type AuthToken } from './auth-token.ts';
import { ETCD_FLAGS } from './flags.ts';
import { REJECTED_FLAGS } from './rejected-flags.ts';

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  readonly trustedCaFile: string;
  /** Empty: no certificate is looked up as revoked. */
  readonly crlFile: string;
  readonly requireClientCertificate: boolean;
  readonly allowed: AllowedNames;
}

/** What every TLS listener and dialer of the member agrees to. */
export interface TlsParameters {
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  readonly ciphers: string;
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
  readonly authToken: AuthToken;
  readonly authTokenTtlMs: number;
  readonly bcryptCost: number;
  /** `--client-cert-auth`: the common name of a client certificate is a user, where a call carries no token. */
  readonly commonNameAuth: boolean;
  readonly logLevel: LogLevel;
  readonly metrics: 'basic' | 'extensive';
  readonly progressNotifyIntervalMs: number;
  readonly initialCorruptCheck: boolean;
  readonly corruptCheckMs: number;
  readonly compactHashCheck: boolean;
  readonly compactHashCheckMs: number;
  readonly leaseCheckpoint: boolean;
  readonly stopServiceOnDefrag: boolean;
  readonly unsafeNoFsync: boolean;
}

const QUOTA_DEFAULT_BYTES = 2 * 1024 ** 3;
const BATCH_LIMIT_DEFAULT = 10_000;
const MS_PER_SECOND = 1000;

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
  if (files.crlFile !== '' && files.trustedCaFile === '')
    bad(`--${prefix === '' ? 'client-' : prefix}crl-file needs --${prefix}trusted-ca-file`);
  const { commonNames = [], hostnames = [] } = files.allowed;
  if (commonNames.length > 0 && hostnames.length > 0)
    bad(
      `--${prefix}cert-allowed-cn and --${prefix}cert-allowed-hostname exclude each other; give one of them`,
    );
  if (commonNames.length + hostnames.length > 0 && files.trustedCaFile === '')
    bad(`allowed names of certificates need --${prefix}trusted-ca-file`);
  return files;
};

const TLS_VERSIONS = { '': 'TLSv1.3', 'TLS1.2': 'TLSv1.2', 'TLS1.3': 'TLSv1.3' } as const;

const tlsParameters = (values: FlagValues<typeof ETCD_FLAGS>): TlsParameters => {
  const minVersion = TLS_VERSIONS[values['tls-min-version']];
  const maxVersion = TLS_VERSIONS[values['tls-max-version']];
  if (minVersion > maxVersion)
    bad(
      `--tls-min-version: min version (${values['tls-min-version']}) is greater than max version (${values['tls-max-version']})`,
    );
  const suites = values['cipher-suites'];
  if (minVersion === 'TLSv1.3' && suites.length > 0)
    bad('--cipher-suites: cipher suites cannot be configured when only TLS1.3 is enabled');
  const unknown = unknownSuiteIn(suites);
  if (unknown !== undefined)
    bad(
      `--cipher-suites: unexpected TLS cipher suite "${unknown}"; known suites: ${knownSuites().join(', ')}`,
    );
  return { minVersion, maxVersion, ciphers: tlsSettings({ cipherSuites: suites }).ciphers };
};

/** Before the table is asked, so that the line says why instead of "unknown flag". */
const refuseUnsupported = (args: readonly string[]): void => {
  for (const arg of args) {
    if (arg === '--') return;
    const name = /^--?([^=]+)/.exec(arg)?.[1] ?? '';
    if (Object.hasOwn(REJECTED_FLAGS, name)) bad(`--${name} is not supported: ${REJECTED_FLAGS[name]}`);
  }
};

/** Settings of which this member has one value: any other is an error, not a silence. */
const refuseOtherValues = (values: FlagValues<typeof ETCD_FLAGS>): void => {
  if (values['config-file'] !== '')
    bad('--config-file is read by `pilothouse component etcd`; a manifest gives the settings as flags');
  if (!values['pre-vote'])
    bad('--pre-vote=false is not supported: elections always ask before they raise the term');
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

const GATES = [
  'InitialCorruptCheck',
  'CompactHashCheck',
  'LeaseCheckpoint',
  'StopGRPCServiceOnDefrag',
] as const;

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
  refuseUnsupported(args);
  const { values, given, positional } = parseFlags(ETCD_FLAGS, args);
  refuseOtherValues(values);
  if (positional.length > 0) bad(`unexpected argument ${JSON.stringify(positional[0])}`);
  const name = values.name;
  const dataDirectory = values['data-dir'] || `${name}.etcd`;
  const urls = (flagName: 'listen-peer-urls' | 'listen-client-urls' | 'listen-metrics-urls'): ListenUrl[] =>
    values[flagName].map((url) => parseUrl(flagName, url));
  const listenPeers = urls('listen-peer-urls');
  const listenClients = urls('listen-client-urls');
  const listenMetrics = urls('listen-metrics-urls');
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
    initialClusterToken: values['initial-cluster-token'],
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
    clientTls: tlsFiles('', [...listenClients, ...listenMetrics], {
      certFile: values['cert-file'],
      keyFile: values['key-file'],
      trustedCaFile: values['trusted-ca-file'],
      crlFile: values['client-crl-file'],
      // As with etcd, an authority alone already demands certificates of it.
      requireClientCertificate: values['client-cert-auth'] || values['trusted-ca-file'] !== '',
      allowed: { hostnames: values['client-cert-allowed-hostname'] },
    }),
    peerTls: tlsFiles('peer-', listenPeers, {
      certFile: values['peer-cert-file'],
      keyFile: values['peer-key-file'],
      trustedCaFile: values['peer-trusted-ca-file'],
      crlFile: values['peer-crl-file'],
      requireClientCertificate: values['peer-client-cert-auth'] || values['peer-trusted-ca-file'] !== '',
      allowed: {
        commonNames: values['peer-cert-allowed-cn'],
        hostnames: values['peer-cert-allowed-hostname'],
      },
    }),
    tls: tlsParameters(values),
    authToken: authToken(values['auth-token']),
    authTokenTtlMs: values['auth-token-ttl'] * MS_PER_SECOND,
    bcryptCost: values['bcrypt-cost'],
    commonNameAuth: values['client-cert-auth'],
    logLevel: logLevel(values['log-level']),
    metrics: values.metrics,
    progressNotifyIntervalMs: renamed(
      'watch-progress-notify-interval',
      'experimental-watch-progress-notify-interval',
    ),
    initialCorruptCheck: values['experimental-initial-corrupt-check'] || gates.has('InitialCorruptCheck'),
    corruptCheckMs: renamed('corrupt-check-time', 'experimental-corrupt-check-time'),
    compactHashCheck: values['experimental-compact-hash-check-enabled'] || gates.has('CompactHashCheck'),
    compactHashCheckMs: renamed('compact-hash-check-time', 'experimental-compact-hash-check-time'),
    leaseCheckpoint: values['experimental-enable-lease-checkpoint'] || gates.has('LeaseCheckpoint'),
    stopServiceOnDefrag:
      values['experimental-stop-grpc-service-on-defrag'] || gates.has('StopGRPCServiceOnDefrag'),
    unsafeNoFsync: values['unsafe-no-fsync'],
  };
};
