const LOGGING = 'this API server logs JSON lines; choose how much with --v';
const METRICS = 'this API server has no hidden metrics and exposes the labels as they are';
const DELEGATED = 'kube-apiserver decides itself; this is a flag of aggregated API servers';
const GONE = 'the flag does nothing in Kubernetes 1.36; remove it';

/**
 * Flags of kube-apiserver 1.36 that this server does not have, each with the reason. None of them is taken and ignored:
 * who gives one would believe in it.
 */
export const UNSUPPORTED_FLAGS: Readonly<Record<string, string>> = {
  'admission-control': 'removed in favour of --enable-admission-plugins and --disable-admission-plugins',
  'aggregator-reject-forwarding-redirect': 'redirects of aggregated servers are never followed',
  'allow-metric-labels': METRICS,
  'allow-metric-labels-manifest': METRICS,
  'apiserver-count': '--endpoint-reconciler-type=lease counts API servers itself',
  'audit-webhook-batch-initial-backoff': 'removed in favour of --audit-webhook-initial-backoff',
  'authentication-kubeconfig': DELEGATED,
  'authentication-skip-lookup': DELEGATED,
  'authentication-tolerate-lookup-failure': DELEGATED,
  'authorization-always-allow-paths': DELEGATED,
  'authorization-kubeconfig': DELEGATED,
  'cert-dir': 'this API server never serves a certificate that it made itself; set --tls-cert-file',
  'contention-profiling': 'there is no profiling endpoint',
  'coordinated-leadership-lease-duration': 'coordinated leader election is a beta that 1.36 leaves off',
  'coordinated-leadership-renew-deadline': 'coordinated leader election is a beta that 1.36 leaves off',
  'coordinated-leadership-retry-period': 'coordinated leader election is a beta that 1.36 leaves off',
  'cors-allowed-origins': 'browsers reach this API through the console, so no origin is allowed',
  'debug-socket-path': 'there is no profiling endpoint',
  'default-watch-cache-size': 'watch caches size themselves by the rate of events',
  'delete-collection-workers': 'a collection is deleted by one worker, in order',
  'disabled-metrics':
    'this API server exposes all of its metrics; drop those that you do not need when you scrape',
  'disable-http2-serving': 'clients choose HTTP/1.1 or HTTP/2 by ALPN; both are served',
  'egress-selector-config-file': 'this API server dials kubelets and webhooks directly',
  'emulation-forward-compatible': 'an emulated version serves the APIs of that version',
  'enable-aggregator-routing': 'aggregated servers are always reached by their endpoints',
  'enable-garbage-collector':
    'removed in Kubernetes 1.36; the garbage collector of kube-controller-manager has its own flag',
  'enable-logs-handler': GONE,
  'etcd-count-metric-poll-period': 'numbers of objects come from the watch caches, at no cost',
  'etcd-db-metric-poll-interval': 'scrape the members of etcd for the size of their databases',
  'etcd-servers-overrides': 'all resources are kept in --etcd-servers',
  'kubelet-port': 'removed; nodes name the port of their kubelet',
  'kubelet-read-only-port': 'removed; nodes name the port of their kubelet',
  'lease-reuse-duration-seconds': 'leases of etcd are shared for a minute',
  'livez-grace-period': 'post-start hooks count for /livez from the start',
  'log-json-info-buffer-size': LOGGING,
  'log-json-split-stream': LOGGING,
  'log-text-info-buffer-size': LOGGING,
  'log-text-split-stream': LOGGING,
  'log-flush-frequency': LOGGING,
  'logging-format': LOGGING,
  vmodule: LOGGING,
  'max-connection-bytes-per-sec': GONE,
  'min-compatibility-version': 'an emulated version serves the APIs of that version',
  'peer-advertise-ip':
    'requests are not forwarded to other API servers: all of a cluster serve the same APIs',
  'peer-advertise-port':
    'requests are not forwarded to other API servers: all of a cluster serve the same APIs',
  'peer-ca-file': 'requests are not forwarded to other API servers: all of a cluster serve the same APIs',
  'permit-address-sharing': 'the port of this API server is its own',
  'permit-port-sharing': 'the port of this API server is its own',
  'runtime-config': 'this API server serves the groups and versions that the release turns on',
  'runtime-config-emulation-forward-compatible': 'an emulated version serves the APIs of that version',
  'service-account-signing-endpoint': 'tokens are signed with --service-account-signing-key-file',
  'show-hidden-metrics-for-version': METRICS,
  'shutdown-send-retry-after': 'a server that stops sends GOAWAY, which makes clients connect to another',
  'shutdown-watch-termination-grace-period':
    'watches end immediately when the server stops; clients resume them on another server',
  'storage-initialization-timeout': 'the server waits for etcd for as long as its startup probe lets it',
  'tls-curve-preferences': 'curves are those of this TLS library',
  'tls-sni-cert-key': 'one certificate is served; give it all the names with --tls-cert-file',
  'tracing-config-file': 'traces of requests are kept in memory: see --debug-traces',
  'watch-cache-sizes': 'watch caches size themselves by the rate of events',
};
