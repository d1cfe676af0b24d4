import { TLS_FLAGS } from '../../base/node/tls-settings.ts';
import { SWITCHED_GATES } from './feature-gates.ts';
import { boolean, durationMs, flag, integer, list, oneOf, text, type FlagKind } from '../../base/flags.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const MIB = 1024 * 1024;

const fraction = (max: number): FlagKind<number> => ({
  type: 'float',
  parse(value) {
    const number = /^\d*\.?\d+(e-?\d+)?$/.test(value) ? Number(value) : NaN;
    if (!(number >= 0 && number <= max)) throw new Error(`must be a number from 0 to ${max}`);
    return number;
  },
});

const joined = (before: readonly string[], next: readonly string[]): readonly string[] => [
  ...before,
  ...next,
];

/**
 * kube-apiserver's own flags, by name and default; where our default differs the help says so. Flags that set
 * something this server does not have are absent, so that giving them fails instead of doing nothing.
 */
export const APISERVER_FLAGS = {
  // Serving
  'bind-address': flag(text, '127.0.0.1', 'address to listen on (upstream: 0.0.0.0)'),
  'advertise-address': flag(
    text,
    '',
    'address that other members of the cluster use (default --bind-address)',
  ),
  'secure-port': flag(integer({ min: 0, max: 65_535 }), 6443, 'port of the API'),
  'tls-cert-file': flag(text, '', 'serving certificate'),
  'tls-private-key-file': flag(text, '', 'private key of this certificate'),
  ...TLS_FLAGS,
  'external-hostname': flag(text, '', 'name of this server among its peers (default the machine)'),
  'http2-max-streams-per-connection': flag(integer({ min: 1 }), 100, 'concurrent requests on one connection'),
  'goaway-chance': flag(
    fraction(0.02),
    0,
    'chance from 0 to 0.02 that a request makes its HTTP/2 client connect again, maybe to another server',
  ),
  'strict-transport-security-directives': flag(
    list,
    [],
    'directives for HSTS: max-age=expireTime and others',
  ),
  'request-timeout': flag(durationMs, MINUTE_MS, 'timeout of requests that are not long-running'),
  'min-request-timeout': flag(integer({ min: 0 }), 1800, 'shortest duration of a watch, in seconds'),
  'shutdown-delay-duration': flag(durationMs, 0, 'time to keep serving after /readyz starts to fail'),
  'enable-priority-and-fairness': flag(
    boolean,
    true,
    'share the server out by FlowSchemas and priority levels instead of two fixed limits',
  ),
  'max-requests-inflight': flag(integer({ min: 0 }), 400, 'concurrent read-only requests (0: no limit)'),
  'max-mutating-requests-inflight': flag(
    integer({ min: 0 }),
    200,
    'concurrent mutating requests (0: no limit)',
  ),

  // etcd
  'etcd-servers': flag(list, [], 'URLs of the etcd members', joined),
  'etcd-cafile': flag(text, '', 'CA of the etcd members'),
  'etcd-certfile': flag(text, '', 'client certificate for etcd'),
  'etcd-keyfile': flag(text, '', 'private key of this certificate'),
  'etcd-healthcheck-timeout': flag(
    durationMs,
    10 * SECOND_MS,
    'timeout of the etcd check of /healthz and /livez (upstream: 2s)',
  ),
  'etcd-readycheck-timeout': flag(
    durationMs,
    10 * SECOND_MS,
    'timeout of the etcd check of /readyz (upstream: 2s)',
  ),
  'storage-backend': flag(oneOf('etcd3'), 'etcd3', 'storage backend'),
  'watch-cache': flag(oneOf('true'), 'true', 'lists and watches are served from memory'),
  'etcd-prefix': flag(oneOf('/registry'), '/registry', 'prefix of all keys in etcd'),
  'etcd-compaction-interval': flag(
    durationMs,
    5 * MINUTE_MS,
    'interval between compactions of etcd history (0: never)',
  ),
  'storage-media-type': flag(
    oneOf('application/json'),
    'application/json',
    'encoding of stored objects (upstream: application/vnd.kubernetes.protobuf)',
  ),
  'encryption-provider-config': flag(
    text,
    '',
    'file with an EncryptionConfiguration: how values of which resources are encrypted in etcd',
  ),
  'encryption-provider-config-automatic-reload': flag(
    boolean,
    false,
    'use a changed --encryption-provider-config without a restart',
  ),
  'event-ttl': flag(durationMs, 60 * MINUTE_MS, 'how long events are kept'),

  // Authentication
  'client-ca-file': flag(text, '', 'CA of client certificates'),
  'anonymous-auth': flag(boolean, false, 'accept anonymous requests (upstream: true)'),
  'authentication-config': flag(
    text,
    '',
    'file with an AuthenticationConfiguration: OpenID Connect issuers and anonymous paths; reloaded when it changes',
  ),
  'token-auth-file': flag(text, '', 'CSV file with static tokens: token, user name, user UID, groups'),
  'authentication-token-webhook-config-file': flag(text, '', 'kubeconfig of the webhook that knows tokens'),
  'authentication-token-webhook-version': flag(oneOf('v1', 'v1beta1'), 'v1beta1', 'version of its reviews'),
  'authentication-token-webhook-cache-ttl': flag(
    durationMs,
    2 * MINUTE_MS,
    'how long its answer is believed',
  ),
  'enable-bootstrap-token-auth': flag(boolean, false, 'accept bootstrap tokens of Secrets in kube-system'),
  'oidc-issuer-url': flag(text, '', 'OpenID Connect issuer whose ID tokens are accepted (https)'),
  'oidc-client-id': flag(text, '', 'client ID for which the ID tokens must be issued'),
  'oidc-ca-file': flag(text, '', "authority of the issuer (default the machine's)"),
  'oidc-username-claim': flag(text, 'sub', 'claim with the name of the user'),
  'oidc-username-prefix': flag(
    text,
    '',
    'prefix of user names (default the issuer and "#", unless the claim is email; "-": none)',
  ),
  'oidc-groups-claim': flag(text, '', 'claim with the groups of the user'),
  'oidc-groups-prefix': flag(text, '', 'prefix of groups'),
  'oidc-signing-algs': flag(list, ['RS256'], 'accepted signature algorithms'),
  'oidc-required-claim': flag(list, [], 'key=value that the ID token must contain', joined),
  'requestheader-client-ca-file': flag(text, '', 'CA of front proxies'),
  'requestheader-allowed-names': flag(list, [], 'common names of front proxies (empty: any)'),
  'requestheader-username-headers': flag(list, ['X-Remote-User'], 'headers with the user name'),
  'requestheader-uid-headers': flag(list, [], 'headers with the UID'),
  'requestheader-group-headers': flag(list, ['X-Remote-Group'], 'headers with the groups'),
  'requestheader-extra-headers-prefix': flag(
    list,
    ['X-Remote-Extra-'],
    'prefixes of headers with extra attributes',
  ),
  'service-account-issuer': flag(
    list,
    [],
    'issuer of service account tokens; further issuers are accepted',
    joined,
  ),
  'service-account-key-file': flag(list, [], 'keys that verify service account tokens', joined),
  'service-account-signing-key-file': flag(text, '', 'key that signs service account tokens'),
  'service-account-max-token-expiration': flag(
    durationMs,
    0,
    'maximum lifetime of a token (0: as requested)',
  ),
  'service-account-extend-token-expiration': flag(
    boolean,
    true,
    'tokens of pods are valid for a year, for clients that never reload them',
  ),
  'service-account-jwks-uri': flag(
    text,
    '',
    'where others find the public keys of service account tokens (default this server)',
  ),
  'service-account-lookup': flag(oneOf('true'), 'true', 'reject tokens of deleted accounts'),
  'api-audiences': flag(list, [], 'audiences of the API (default the issuer)'),

  // Authorization and admission
  'authorization-mode': flag(
    list,
    ['Node', 'RBAC'],
    'who decides, in order: Node, RBAC, ABAC, Webhook, AlwaysAllow, AlwaysDeny (upstream: AlwaysAllow)',
  ),
  'authorization-config': flag(
    text,
    '',
    'file with an AuthorizationConfiguration, instead of the mode; reloaded when it changes',
  ),
  'authorization-policy-file': flag(text, '', 'file with the policies of ABAC, one a line'),
  'authorization-webhook-config-file': flag(text, '', 'kubeconfig of the authorization webhook'),
  'authorization-webhook-version': flag(oneOf('v1', 'v1beta1'), 'v1beta1', 'version of its reviews'),
  'authorization-webhook-cache-authorized-ttl': flag(durationMs, 5 * MINUTE_MS, 'how long yes is believed'),
  'authorization-webhook-cache-unauthorized-ttl': flag(durationMs, 30 * SECOND_MS, 'how long no is believed'),
  'enable-admission-plugins': flag(list, [], 'admission plugins to enable besides the default ones', joined),
  'disable-admission-plugins': flag(list, [], 'admission plugins to disable', joined),
  'admission-control-config-file': flag(text, '', 'AdmissionConfiguration: settings of admission plugins'),
  'default-not-ready-toleration-seconds': flag(
    integer({ min: 0 }),
    300,
    'seconds that pods stay on a node that is not ready',
  ),
  'default-unreachable-toleration-seconds': flag(
    integer({ min: 0 }),
    300,
    'seconds that pods stay on an unreachable node',
  ),
  'allow-privileged': flag(boolean, false, 'allow privileged containers'),

  // Audit
  'audit-policy-file': flag(
    text,
    '',
    'file with a Policy: which requests are recorded, and how much of them',
  ),
  'audit-log-path': flag(text, '', 'file for events, one JSON object a line; - is the standard output'),
  'audit-log-maxage': flag(integer({ min: 0 }), 366, 'days to keep rotated files (0: no limit)'),
  'audit-log-maxbackup': flag(integer({ min: 0 }), 100, 'rotated files to keep (0: no limit)'),
  'audit-log-maxsize': flag(integer({ min: 1 }), 100, 'MiB of a file before it is rotated'),
  'audit-log-compress': flag(boolean, false, 'compress rotated files'),
  'audit-log-format': flag(oneOf('json'), 'json', 'how events are written'),
  'audit-log-mode': flag(
    oneOf('batch', 'blocking', 'blocking-strict'),
    'blocking',
    'whether requests wait until their events are stored, and fail where they are not',
  ),
  'audit-log-batch-buffer-size': flag(integer({ min: 1 }), 10_000, 'events that wait; more are dropped'),
  'audit-log-batch-max-size': flag(integer({ min: 1 }), 1, 'events that are stored together'),
  'audit-log-batch-max-wait': flag(durationMs, 0, 'longest time that an event waits for others'),
  'audit-log-batch-throttle-enable': flag(boolean, false, 'limit the batches per second'),
  'audit-log-batch-throttle-qps': flag(integer({ min: 0 }), 0, 'batches per second on average'),
  'audit-log-batch-throttle-burst': flag(integer({ min: 0 }), 0, 'batches in quick succession'),
  'audit-log-truncate-enabled': flag(boolean, false, 'leave objects out of large events'),
  'audit-log-truncate-max-batch-size': flag(integer({ min: 1 }), 10 * MIB, 'bytes of a batch'),
  'audit-log-truncate-max-event-size': flag(integer({ min: 1 }), 100 * 1024, 'bytes of an event'),
  'audit-log-version': flag(oneOf('audit.k8s.io/v1'), 'audit.k8s.io/v1', 'version of the events'),
  'audit-webhook-config-file': flag(text, '', 'kubeconfig of the server that events are sent to'),
  'audit-webhook-initial-backoff': flag(durationMs, 10 * SECOND_MS, 'pause before events are sent again'),
  'audit-webhook-mode': flag(
    oneOf('batch', 'blocking', 'blocking-strict'),
    'batch',
    'whether requests wait until their events are stored, and fail where they are not',
  ),
  'audit-webhook-batch-buffer-size': flag(integer({ min: 1 }), 10_000, 'events that wait; more are dropped'),
  'audit-webhook-batch-max-size': flag(integer({ min: 1 }), 400, 'events that are stored together'),
  'audit-webhook-batch-max-wait': flag(
    durationMs,
    30 * SECOND_MS,
    'longest time that an event waits for others',
  ),
  'audit-webhook-batch-throttle-enable': flag(boolean, true, 'limit the batches per second'),
  'audit-webhook-batch-throttle-qps': flag(integer({ min: 0 }), 10, 'batches per second on average'),
  'audit-webhook-batch-throttle-burst': flag(integer({ min: 0 }), 15, 'batches in quick succession'),
  'audit-webhook-truncate-enabled': flag(boolean, false, 'leave objects out of large events'),
  'audit-webhook-truncate-max-batch-size': flag(integer({ min: 1 }), 10 * MIB, 'bytes of a batch'),
  'audit-webhook-truncate-max-event-size': flag(integer({ min: 1 }), 100 * 1024, 'bytes of an event'),
  'audit-webhook-version': flag(oneOf('audit.k8s.io/v1'), 'audit.k8s.io/v1', 'version of the events'),

  // The cluster
  'service-cluster-ip-range': flag(list, ['10.96.0.0/12'], 'range of service addresses'),
  'service-node-port-range': flag(text, '30000-32767', 'range of node ports'),
  'kubernetes-service-node-port': flag(oneOf('0'), '0', 'node port of the kubernetes service (none)'),
  'endpoint-reconciler-type': flag(
    oneOf('lease', 'none'),
    'lease',
    'how endpoints of the kubernetes service are maintained: lease (by the API servers) or none',
  ),
  'kubelet-certificate-authority': flag(text, '', 'CA of the kubelets'),
  'kubelet-client-certificate': flag(text, '', 'client certificate for kubelets'),
  'kubelet-client-key': flag(text, '', 'private key of this certificate'),
  'kubelet-preferred-address-types': flag(
    list,
    ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
    'types of node addresses to use, in order of preference',
  ),
  'kubelet-timeout': flag(durationMs, 5 * SECOND_MS, 'timeout of connections to kubelets'),
  'proxy-client-cert-file': flag(
    text,
    '',
    'certificate for aggregated servers; it must suit --requestheader-client-ca-file',
  ),
  'proxy-client-key-file': flag(text, '', 'private key of this certificate'),
  'feature-gates': flag(
    list,
    [],
    `features to turn on or off, as Name=true or Name=false; others follow --emulated-version: ${[...SWITCHED_GATES].join(', ')}`,
    joined,
  ),
  'emulated-version': flag(
    list,
    [],
    'Kubernetes version to emulate: 1.34, 1.35 or 1.36 (default the latest)',
    joined,
  ),

  // Observing
  profiling: flag(oneOf('false'), 'false', 'profiling is not supported (upstream: true)'),
  'debug-traces': flag(integer({ min: 0, max: 100_000 }), 1000, 'finished requests kept for /debug/traces'),
  v: flag(integer({ min: 0, max: 10 }), 2, 'log verbosity; 4 and above logs everything'),
} as const;
