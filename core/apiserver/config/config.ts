import { ReasonError } from '../../base/errors.ts';
import { parseFlags, rejectUnsupportedFlags, type FlagValues } from '../../base/flags.ts';
import { tlsSettingsOf, weakSuitesIn, type TlsSettings } from '../../base/node/tls-settings.ts';
import type { LogLevel } from '../../base/log.ts';
import { NEWEST_MINOR, OLDEST_MINOR, type FeatureGates } from '../../api/releases/index.ts';
import type { AuditDelivery, AuditSettings } from '../audit/index.ts';
import { isJwtAlgorithm, type JwtAlgorithm } from '../authn/jwt.ts';
import {
  AUTHORIZER_TYPES,
  type AuthorizationWebhook,
  type AuthorizerType,
} from './files/authorization-configuration.ts';
import { featureGatesOf } from './feature-gates.ts';
import { APISERVER_FLAGS } from './flags.ts';
import { UNSUPPORTED_FLAGS } from './unsupported-flags.ts';

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** One API server as its flags describe it, checked for contradictions. */
export interface ApiServerConfig {
  readonly bindAddress: string;
  readonly advertiseAddress: string;
  readonly securePort: number;
  /** Of this server among its peers; empty: the machine's. */
  readonly hostname: string;
  readonly serving: { readonly certFile: string; readonly keyFile: string };
  readonly tls: TlsSettings;
  /** Of --tls-cipher-suites, for a warning. */
  readonly weakCipherSuites: readonly string[];
  readonly streamsPerConnectionMax: number;
  /** Chance that a request ends its connection, so that clients spread over all servers. */
  readonly goawayChance: number;
  readonly strictTransportSecurity: readonly string[];
  readonly requestTimeoutMs: number;
  readonly watchTimeoutMinMs: number;
  readonly shutdownDelayMs: number;
  /** API Priority and Fairness; otherwise each limit stands for itself. */
  readonly sharesFairly: boolean;
  readonly readOnlyInFlightMax: number;
  readonly mutatingInFlightMax: number;
  readonly etcd: {
    readonly servers: readonly string[];
    readonly caFile: string;
    readonly certFile: string;
    readonly keyFile: string;
    readonly compactionIntervalMs: number;
    readonly healthTimeoutMs: number;
    readonly readyTimeoutMs: number;
  };
  readonly encryption: {
    /** Empty: values are stored as they are. */
    readonly configFile: string;
    readonly isReloaded: boolean;
  };
  readonly eventTtlSeconds: number;
  readonly clientCaFile: string;
  readonly anonymousAuth: boolean;
  /** Whether --anonymous-auth was given, which a file must not contradict. */
  readonly isAnonymousAuthGiven: boolean;
  readonly authenticationConfigFile: string;
  /** CSV of static tokens. */
  readonly tokenFile: string;
  readonly bootstrapTokens: boolean;
  /** The classic flags of OpenID Connect; no issuer: not used. */
  readonly oidc: {
    readonly issuerUrl: string;
    readonly clientId: string;
    readonly caFile: string;
    readonly usernameClaim: string;
    readonly usernamePrefix: string;
    readonly groupsClaim: string;
    readonly groupsPrefix: string;
    readonly algorithms: readonly JwtAlgorithm[];
    readonly requiredClaims: Readonly<Record<string, string>>;
  };
  readonly frontProxy: {
    readonly caFile: string;
    readonly allowedNames: readonly string[];
    readonly usernameHeaders: readonly string[];
    readonly uidHeaders: readonly string[];
    readonly groupHeaders: readonly string[];
    readonly extraHeaderPrefixes: readonly string[];
  };
  readonly serviceAccounts: {
    readonly issuers: readonly string[];
    readonly keyFiles: readonly string[];
    readonly signingKeyFile: string;
    /** Empty: this server's own. */
    readonly keysUrl: string;
    /** 0: as asked. */
    readonly tokenSecondsMax: number;
    readonly extendsPodTokens: boolean;
    readonly audiences: readonly string[];
  };
  readonly tokenWebhook: {
    /** Empty: there is none. */
    readonly kubeconfigFile: string;
    readonly version: 'v1' | 'v1beta1';
    readonly cacheTtlMs: number;
  };
  readonly authorization: {
    /** Empty: the modes decide. */
    readonly configFile: string;
    readonly modes: readonly AuthorizerType[];
    /** Of ABAC. */
    readonly policyFile: string;
    readonly webhook: Pick<
      AuthorizationWebhook,
      'kubeconfigFile' | 'version' | 'authorizedTtlMs' | 'unauthorizedTtlMs' | 'failurePolicy'
    >;
  };
  readonly admission: {
    readonly enabled: readonly string[];
    readonly disabled: readonly string[];
    /** Empty: none. */
    readonly configurationFile: string;
    readonly notReadySeconds: number;
    readonly unreachableSeconds: number;
  };
  readonly audit: AuditSettings;
  readonly allowPrivileged: boolean;
  readonly serviceRanges: readonly string[];
  readonly nodePorts: PortRange;
  readonly endpointReconciler: 'lease' | 'none';
  readonly kubelet: {
    readonly caFile: string;
    readonly certFile: string;
    readonly keyFile: string;
    readonly addressTypes: readonly string[];
    readonly timeoutMs: number;
  };
  readonly aggregator: { readonly certFile: string; readonly keyFile: string };
  readonly minor: number;
  readonly gates: FeatureGates;
  readonly tracesMax: number;
  readonly logLevel: LogLevel;
}

type Values = FlagValues<typeof APISERVER_FLAGS>;

const DEBUG_VERBOSITY = 4;

const bad = (message: string): never => {
  throw new ReasonError('BadConfiguration', message);
};

const pair = (
  values: Values,
  cert: keyof Values,
  key: keyof Values,
): { certFile: string; keyFile: string } => {
  const certFile = values[cert] as string;
  const keyFile = values[key] as string;
  if ((certFile === '') !== (keyFile === '')) bad(`--${cert} and --${key} must be given together`);
  return { certFile, keyFile };
};

const authorizationOf = (values: Values, given: ReadonlySet<string>): ApiServerConfig['authorization'] => {
  const configFile = values['authorization-config'];
  const others = [...given].filter((name) => /^authorization-(mode|policy|webhook)/.test(name));
  if (configFile !== '' && others.length > 0)
    bad(`authorization-config can not be specified when --${others[0]} is specified`);
  const texts = values['authorization-mode'];
  if (texts.length === 0) bad('--authorization-mode: at least one mode must be given');
  const modes = texts.map(
    (mode) =>
      AUTHORIZER_TYPES.find((one) => one === mode) ??
      bad(
        `--authorization-mode: ${JSON.stringify(mode)} is not a valid mode; there are ${AUTHORIZER_TYPES.join(', ')}`,
      ),
  );
  const twice = modes.find((mode, at) => modes.indexOf(mode) < at);
  if (twice !== undefined) bad(`--authorization-mode: ${twice} is given twice`);
  const policyFile = values['authorization-policy-file'];
  const kubeconfigFile = values['authorization-webhook-config-file'];
  const pairs = [
    ['ABAC', 'authorization-policy-file', policyFile],
    ['Webhook', 'authorization-webhook-config-file', kubeconfigFile],
  ] as const;
  for (const [mode, flagName, file] of pairs)
    if (modes.includes(mode) !== (file !== ''))
      bad(`--${flagName} and --authorization-mode=${mode} must be given together`);
  return {
    configFile,
    modes,
    policyFile,
    webhook: {
      kubeconfigFile,
      version: values['authorization-webhook-version'],
      authorizedTtlMs: values['authorization-webhook-cache-authorized-ttl'],
      unauthorizedTtlMs: values['authorization-webhook-cache-unauthorized-ttl'],
      failurePolicy: 'NoOpinion',
    },
  };
};

const OIDC_FLAGS = [
  'oidc-issuer-url',
  'oidc-client-id',
  'oidc-ca-file',
  'oidc-username-claim',
  'oidc-username-prefix',
  'oidc-groups-claim',
  'oidc-groups-prefix',
  'oidc-signing-algs',
  'oidc-required-claim',
] as const;

const oidcOf = (values: Values, given: ReadonlySet<string>): ApiServerConfig['oidc'] => {
  const flags = OIDC_FLAGS.filter((name) => given.has(name));
  if (flags.length > 0 && values['authentication-config'] !== '')
    bad('authentication-config file and oidc-* flags are mutually exclusive');
  const [issuerUrl, clientId] = [values['oidc-issuer-url'], values['oidc-client-id']];
  if (flags.length > 0 && (issuerUrl === '' || clientId === ''))
    bad('oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set');
  const algorithms = values['oidc-signing-algs'].map((name) =>
    isJwtAlgorithm(name) ? name : bad(`oidc: unsupported signing alg: ${JSON.stringify(name)}`),
  );
  const requiredClaims = values['oidc-required-claim'].map((pairText): [string, string] => {
    const equals = pairText.indexOf('=');
    return equals > 0
      ? [pairText.slice(0, equals), pairText.slice(equals + 1)]
      : bad(`--oidc-required-claim: ${JSON.stringify(pairText)} is not key=value`);
  });
  return {
    issuerUrl,
    clientId,
    caFile: values['oidc-ca-file'],
    usernameClaim: values['oidc-username-claim'],
    usernamePrefix: values['oidc-username-prefix'],
    groupsClaim: values['oidc-groups-claim'],
    groupsPrefix: values['oidc-groups-prefix'],
    algorithms,
    requiredClaims: Object.fromEntries(requiredClaims),
  };
};

const keysUrlOf = (url: string): string =>
  url === '' || url.startsWith('https://')
    ? url
    : bad(`service-account-jwks-uri requires https scheme, parsed as: ${url}`);

const portRange = (range: string): PortRange => {
  const match = /^(\d+)-(\d+)$/.exec(range);
  const [first, last] = [Number(match?.[1]), Number(match?.[2])];
  if (!match || first < 1 || last > 65_535 || first > last)
    bad(`--service-node-port-range: ${JSON.stringify(range)} is not a range such as 30000-32767`);
  return { first, last };
};

/** `1.35`, `v1.35.2`, or with upstream's component in front, `kube=1.35`. */
const emulatedMinor = (versions: readonly string[]): number => {
  const [version] = versions.slice(-1);
  if (version === undefined) return NEWEST_MINOR;
  const minor = Number(/^(?:kube=)?v?1\.(\d+)(?:\.\d+)?$/.exec(version)?.[1]);
  if (!(minor >= OLDEST_MINOR && minor <= NEWEST_MINOR))
    bad(
      `--emulated-version: ${JSON.stringify(version)} is not within 1.${OLDEST_MINOR} and 1.${NEWEST_MINOR}`,
    );
  return minor;
};

const DIRECTIVE = /^(?:max-age=\d+|includeSubDomains|preload)$/;
const transportSecurity = (directives: readonly string[]): readonly string[] => {
  const unknown = directives.find((directive) => !DIRECTIVE.test(directive));
  if (unknown !== undefined)
    bad(
      `--strict-transport-security-directives: ${JSON.stringify(unknown)} is not max-age=expireTime, includeSubDomains or preload`,
    );
  if (directives.length > 0 && !directives.some((one) => one.startsWith('max-age=')))
    bad('--strict-transport-security-directives: max-age=expireTime is required');
  return directives;
};

const sharesFairly = (values: Values): boolean => {
  const isOn = values['enable-priority-and-fairness'];
  if (isOn && values['max-requests-inflight'] + values['max-mutating-requests-inflight'] <= 0)
    bad(
      '--max-requests-inflight and --max-mutating-requests-inflight cannot both be zero with --enable-priority-and-fairness',
    );
  return isOn;
};

const encryptionOf = (values: Values): ApiServerConfig['encryption'] => {
  const configFile = values['encryption-provider-config'];
  const isReloaded = values['encryption-provider-config-automatic-reload'];
  if (isReloaded && configFile === '')
    bad('--encryption-provider-config-automatic-reload must be set with --encryption-provider-config');
  return { configFile, isReloaded };
};

const logDelivery = (values: Values): AuditDelivery => ({
  mode: values['audit-log-mode'],
  bufferSize: values['audit-log-batch-buffer-size'],
  batchSizeMax: values['audit-log-batch-max-size'],
  batchWaitMs: values['audit-log-batch-max-wait'],
  isThrottled: values['audit-log-batch-throttle-enable'],
  throttleQps: values['audit-log-batch-throttle-qps'],
  throttleBurst: values['audit-log-batch-throttle-burst'],
  isTruncated: values['audit-log-truncate-enabled'],
  truncateBatchBytes: values['audit-log-truncate-max-batch-size'],
  truncateEventBytes: values['audit-log-truncate-max-event-size'],
});

const webhookDelivery = (values: Values): AuditDelivery => ({
  mode: values['audit-webhook-mode'],
  bufferSize: values['audit-webhook-batch-buffer-size'],
  batchSizeMax: values['audit-webhook-batch-max-size'],
  batchWaitMs: values['audit-webhook-batch-max-wait'],
  isThrottled: values['audit-webhook-batch-throttle-enable'],
  throttleQps: values['audit-webhook-batch-throttle-qps'],
  throttleBurst: values['audit-webhook-batch-throttle-burst'],
  isTruncated: values['audit-webhook-truncate-enabled'],
  truncateBatchBytes: values['audit-webhook-truncate-max-batch-size'],
  truncateEventBytes: values['audit-webhook-truncate-max-event-size'],
});

/** Upstream's checks of what goes together. */
const checkedDelivery = (plugin: string, delivery: AuditDelivery): AuditDelivery => {
  const { mode, isThrottled, throttleQps, throttleBurst, truncateBatchBytes, truncateEventBytes } = delivery;
  if (mode === 'batch' && isThrottled && throttleQps === 0)
    bad(`--audit-${plugin}-batch-throttle-qps must be a positive number`);
  if (mode === 'batch' && isThrottled && throttleBurst === 0)
    bad(`--audit-${plugin}-batch-throttle-burst must be a positive number`);
  if (truncateBatchBytes < truncateEventBytes)
    bad(
      `--audit-${plugin}-truncate-max-batch-size must be at least --audit-${plugin}-truncate-max-event-size`,
    );
  return delivery;
};

const auditOf = (values: Values): AuditSettings => ({
  policyFile: values['audit-policy-file'],
  logFile: {
    path: values['audit-log-path'],
    ageDaysMax: values['audit-log-maxage'],
    backupsMax: values['audit-log-maxbackup'],
    sizeMibMax: values['audit-log-maxsize'],
    isCompressed: values['audit-log-compress'],
    delivery: checkedDelivery('log', logDelivery(values)),
  },
  auditWebhook: {
    configFile: values['audit-webhook-config-file'],
    initialBackOffMs: values['audit-webhook-initial-backoff'],
    delivery: checkedDelivery('webhook', webhookDelivery(values)),
  },
});

const required = (values: Values, names: readonly (keyof Values)[]): void => {
  const missing = names.filter((name) => String(values[name]) === '');
  if (missing.length > 0) bad(`${missing.map((name) => `--${name}`).join(', ')} must be given`);
};

/** Reads kube-apiserver's command line. Contradictions are one clear line that names the flags. */
export const readApiServerConfig = (args: readonly string[]): ApiServerConfig => {
  rejectUnsupportedFlags(args, APISERVER_FLAGS, UNSUPPORTED_FLAGS);
  const { values, given, positional } = parseFlags(APISERVER_FLAGS, args);
  if (positional.length > 0) bad(`unexpected argument ${JSON.stringify(positional[0])}`);
  required(values, [
    'etcd-servers',
    'tls-cert-file',
    'tls-private-key-file',
    'client-ca-file',
    'service-account-issuer',
    'service-account-key-file',
    'service-account-signing-key-file',
  ]);
  for (const url of values['etcd-servers'])
    if (!/^https?:\/\/[^/]+:\d+\/?$/.test(url))
      bad(`--etcd-servers: ${JSON.stringify(url)} is not a URL such as https://127.0.0.1:2379`);
  const minor = emulatedMinor(values['emulated-version']);
  return {
    bindAddress: values['bind-address'],
    advertiseAddress: values['advertise-address'] || values['bind-address'],
    securePort: values['secure-port'],
    hostname: values['external-hostname'],
    serving: pair(values, 'tls-cert-file', 'tls-private-key-file'),
    tls: tlsSettingsOf(values),
    weakCipherSuites: weakSuitesIn(values['tls-cipher-suites']),
    streamsPerConnectionMax: values['http2-max-streams-per-connection'],
    goawayChance: values['goaway-chance'],
    strictTransportSecurity: transportSecurity(values['strict-transport-security-directives']),
    requestTimeoutMs: values['request-timeout'],
    watchTimeoutMinMs: values['min-request-timeout'] * 1000,
    shutdownDelayMs: values['shutdown-delay-duration'],
    sharesFairly: sharesFairly(values),
    readOnlyInFlightMax: values['max-requests-inflight'],
    mutatingInFlightMax: values['max-mutating-requests-inflight'],
    etcd: {
      servers: values['etcd-servers'],
      caFile: values['etcd-cafile'],
      ...pair(values, 'etcd-certfile', 'etcd-keyfile'),
      compactionIntervalMs: values['etcd-compaction-interval'],
      healthTimeoutMs: values['etcd-healthcheck-timeout'],
      readyTimeoutMs: values['etcd-readycheck-timeout'],
    },
    encryption: encryptionOf(values),
    eventTtlSeconds: Math.ceil(values['event-ttl'] / 1000),
    clientCaFile: values['client-ca-file'],
    anonymousAuth: values['anonymous-auth'],
    isAnonymousAuthGiven: given.has('anonymous-auth'),
    authenticationConfigFile: values['authentication-config'],
    tokenFile: values['token-auth-file'],
    bootstrapTokens: values['enable-bootstrap-token-auth'],
    oidc: oidcOf(values, given),
    frontProxy: {
      caFile: values['requestheader-client-ca-file'],
      allowedNames: values['requestheader-allowed-names'],
      usernameHeaders: values['requestheader-username-headers'],
      uidHeaders: values['requestheader-uid-headers'],
      groupHeaders: values['requestheader-group-headers'],
      extraHeaderPrefixes: values['requestheader-extra-headers-prefix'],
    },
    serviceAccounts: {
      issuers: values['service-account-issuer'],
      keyFiles: values['service-account-key-file'],
      signingKeyFile: values['service-account-signing-key-file'],
      keysUrl: keysUrlOf(values['service-account-jwks-uri']),
      tokenSecondsMax: Math.floor(values['service-account-max-token-expiration'] / 1000),
      extendsPodTokens: values['service-account-extend-token-expiration'],
      audiences: values['api-audiences'],
    },
    tokenWebhook: {
      kubeconfigFile: values['authentication-token-webhook-config-file'],
      version: values['authentication-token-webhook-version'],
      cacheTtlMs: values['authentication-token-webhook-cache-ttl'],
    },
    authorization: authorizationOf(values, given),
    admission: {
      enabled: values['enable-admission-plugins'],
      disabled: values['disable-admission-plugins'],
      configurationFile: values['admission-control-config-file'],
      notReadySeconds: values['default-not-ready-toleration-seconds'],
      unreachableSeconds: values['default-unreachable-toleration-seconds'],
    },
    audit: auditOf(values),
    allowPrivileged: values['allow-privileged'],
    serviceRanges: values['service-cluster-ip-range'],
    nodePorts: portRange(values['service-node-port-range']),
    endpointReconciler: values['endpoint-reconciler-type'],
    kubelet: {
      caFile: values['kubelet-certificate-authority'],
      ...pair(values, 'kubelet-client-certificate', 'kubelet-client-key'),
      addressTypes: values['kubelet-preferred-address-types'],
      timeoutMs: values['kubelet-timeout'],
    },
    aggregator: pair(values, 'proxy-client-cert-file', 'proxy-client-key-file'),
    minor,
    gates: featureGatesOf(values['feature-gates'], minor),
    tracesMax: values['debug-traces'],
    logLevel: values.v >= DEBUG_VERBOSITY ? 'debug' : values.v > 0 ? 'info' : 'warn',
  };
};
