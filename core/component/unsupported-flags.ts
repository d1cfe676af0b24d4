const LOGGING = 'components log JSON lines; choose how much with --v';
const METRICS = 'all metrics are exposed as they are; drop what you do not need when you scrape';
const PORT = 'the port of this component is its own';
const CLOUD = 'clouds are the business of cloud-controller-manager';
const VOLUMES = 'this controller manager binds volumes, and attaches or provisions none';
const RELEASE = 'features follow the release of the image, with the defaults of that release';
const SLICES = 'EndpointSlices are written as soon as pods change';

/** Flags of upstream's managers that ours do not have, each with the reason: none is taken and ignored. */
export const UNSUPPORTED_MANAGER_FLAGS: Readonly<Record<string, string>> = {
  'allow-metric-labels': METRICS,
  'allow-metric-labels-manifest': METRICS,
  'authentication-skip-lookup': 'set --client-ca-file and --requestheader-client-ca-file instead',
  'authentication-tolerate-lookup-failure': 'callers are authenticated by the files that flags name',
  'cert-dir': 'a certificate is generated in memory; set --tls-cert-file to serve your own',
  'contention-profiling': 'there is no profiling endpoint',
  'controller-shutdown-timeout': 'controllers stop with the process',
  'disable-http2-serving': 'health and metrics are served over HTTP/1.1',
  'disabled-metrics': METRICS,
  'emulated-version': RELEASE,
  'feature-gates': RELEASE,
  'http2-max-streams-per-connection': 'health and metrics are served over HTTP/1.1',
  'kube-api-content-type': 'objects travel as JSON',
  'log-flush-frequency': LOGGING,
  'log-json-info-buffer-size': LOGGING,
  'log-json-split-stream': LOGGING,
  'log-text-info-buffer-size': LOGGING,
  'log-text-split-stream': LOGGING,
  'logging-format': LOGGING,
  'min-compatibility-version': RELEASE,
  'permit-address-sharing': PORT,
  'permit-port-sharing': PORT,
  'show-hidden-metrics-for-version': METRICS,
  'tls-curve-preferences': 'curves are those of this TLS library',
  'tls-sni-cert-key': 'one certificate is served; give it all the names with --tls-cert-file',
  vmodule: LOGGING,
  'write-config-to': 'the configuration in use is served by /configz',
};

/** Of kube-controller-manager alone. */
export const UNSUPPORTED_CONTROLLER_FLAGS: Readonly<Record<string, string>> = {
  ...UNSUPPORTED_MANAGER_FLAGS,
  'attach-detach-reconcile-sync-period': VOLUMES,
  'cidr-allocator-type': 'nodes get their ranges from --cluster-cidr',
  'cloud-config': CLOUD,
  'cloud-provider': CLOUD,
  'concurrent-device-taint-eviction-syncs': 'this controller manager does not allocate devices',
  'concurrent-ephemeralvolume-syncs': VOLUMES,
  'concurrent-resourceclaim-syncs': 'this controller manager does not allocate devices',
  'concurrent-service-syncs': CLOUD,
  'concurrent-validating-admission-policy-status-syncs': 'API servers check the types of policies themselves',
  'configure-cloud-routes': CLOUD,
  'controller-start-interval': 'controllers start together',
  'disable-attach-detach-reconcile-sync': VOLUMES,
  'disable-force-detach-on-timeout': VOLUMES,
  'enable-dynamic-provisioning': VOLUMES,
  'enable-hostpath-provisioner': VOLUMES,
  'enable-leader-migration': CLOUD,
  'endpoint-updates-batch-period': SLICES,
  'endpointslice-updates-batch-period': SLICES,
  'external-cloud-volume-plugin': CLOUD,
  'flex-volume-plugin-dir': VOLUMES,
  'leader-migration-config': CLOUD,
  'min-resync-period': 'informers relist after a lost watch, not by the clock',
  'mirroring-concurrent-service-endpoint-syncs': SLICES,
  'mirroring-endpointslice-updates-batch-period': SLICES,
  'mirroring-max-endpoints-per-subset': 'all addresses are mirrored, up to the limit of an EndpointSlice',
  'node-cidr-mask-size-ipv4': 'set --node-cidr-mask-size; addresses are IPv4',
  'node-cidr-mask-size-ipv6': 'addresses are IPv4',
  'pv-recycler-increment-timeout-nfs': VOLUMES,
  'pv-recycler-minimum-timeout-hostpath': VOLUMES,
  'pv-recycler-minimum-timeout-nfs': VOLUMES,
  'pv-recycler-pod-template-filepath-hostpath': VOLUMES,
  'pv-recycler-pod-template-filepath-nfs': VOLUMES,
  'pv-recycler-timeout-increment-hostpath': VOLUMES,
  'route-reconciliation-period': CLOUD,
};
