import { expect, test } from 'vitest';
import { rejectUnsupportedFlags } from '../base/flags.ts';
import { CONTROLLER_MANAGER_FLAGS } from '../controllers/config/flags.ts';
import { SCHEDULER_FLAGS } from '../scheduler/config/flags.ts';
import { UNSUPPORTED_CONTROLLER_FLAGS, UNSUPPORTED_MANAGER_FLAGS } from './unsupported-flags.ts';

// Every flag that `--help` of upstream's 1.36 names.
const BOTH = `
allow-metric-labels allow-metric-labels-manifest authentication-kubeconfig authentication-skip-lookup
authentication-token-webhook-cache-ttl authentication-tolerate-lookup-failure authorization-always-allow-paths authorization-kubeconfig
authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl bind-address cert-dir
client-ca-file contention-profiling disable-http2-serving disabled-metrics
emulated-version feature-gates http2-max-streams-per-connection kube-api-burst
kube-api-content-type kube-api-qps kubeconfig leader-elect
leader-elect-lease-duration leader-elect-renew-deadline leader-elect-resource-lock leader-elect-resource-name
leader-elect-resource-namespace leader-elect-retry-period log-flush-frequency log-json-info-buffer-size
log-json-split-stream log-text-info-buffer-size log-text-split-stream logging-format
master min-compatibility-version permit-address-sharing permit-port-sharing
profiling requestheader-allowed-names requestheader-client-ca-file requestheader-extra-headers-prefix
requestheader-group-headers requestheader-uid-headers requestheader-username-headers secure-port
show-hidden-metrics-for-version tls-cert-file tls-cipher-suites tls-curve-preferences
tls-min-version tls-private-key-file tls-sni-cert-key v
vmodule
`;
const CONTROLLER_MANAGER = `
allocate-node-cidrs attach-detach-reconcile-sync-period cidr-allocator-type cloud-config
cloud-provider cluster-cidr cluster-name cluster-signing-cert-file
cluster-signing-duration cluster-signing-key-file cluster-signing-kube-apiserver-client-cert-file cluster-signing-kube-apiserver-client-key-file
cluster-signing-kubelet-client-cert-file cluster-signing-kubelet-client-key-file cluster-signing-kubelet-serving-cert-file cluster-signing-kubelet-serving-key-file
cluster-signing-legacy-unknown-cert-file cluster-signing-legacy-unknown-key-file concurrent-cron-job-syncs concurrent-daemonset-syncs
concurrent-deployment-syncs concurrent-device-taint-eviction-syncs concurrent-endpoint-syncs concurrent-ephemeralvolume-syncs
concurrent-gc-syncs concurrent-horizontal-pod-autoscaler-syncs concurrent-job-syncs concurrent-namespace-syncs
concurrent-rc-syncs concurrent-replicaset-syncs concurrent-resource-quota-syncs concurrent-resourceclaim-syncs
concurrent-service-endpoint-syncs concurrent-service-syncs concurrent-serviceaccount-token-syncs concurrent-statefulset-syncs
concurrent-ttl-after-finished-syncs concurrent-validating-admission-policy-status-syncs configure-cloud-routes controller-shutdown-timeout
controller-start-interval controllers disable-attach-detach-reconcile-sync disable-force-detach-on-timeout
enable-dynamic-provisioning enable-garbage-collector enable-hostpath-provisioner enable-leader-migration
endpoint-updates-batch-period endpointslice-updates-batch-period external-cloud-volume-plugin flex-volume-plugin-dir
horizontal-pod-autoscaler-cpu-initialization-period horizontal-pod-autoscaler-downscale-stabilization horizontal-pod-autoscaler-initial-readiness-delay horizontal-pod-autoscaler-sync-period
horizontal-pod-autoscaler-tolerance large-cluster-size-threshold leader-migration-config legacy-service-account-token-clean-up-period
max-endpoints-per-slice min-resync-period mirroring-concurrent-service-endpoint-syncs mirroring-endpointslice-updates-batch-period
mirroring-max-endpoints-per-subset namespace-sync-period node-cidr-mask-size node-cidr-mask-size-ipv4
node-cidr-mask-size-ipv6 node-eviction-rate node-monitor-grace-period node-monitor-period
node-startup-grace-period pv-recycler-increment-timeout-nfs pv-recycler-minimum-timeout-hostpath pv-recycler-minimum-timeout-nfs
pv-recycler-pod-template-filepath-hostpath pv-recycler-pod-template-filepath-nfs pv-recycler-timeout-increment-hostpath pvclaimbinder-sync-period
resource-quota-sync-period root-ca-file route-reconciliation-period secondary-node-eviction-rate
service-account-private-key-file service-cluster-ip-range terminated-pod-gc-threshold unhealthy-zone-threshold
use-service-account-credentials
`;
const SCHEDULER = `
config pod-max-in-unschedulable-pods-duration write-config-to
`;

const names = (...texts: readonly string[]): string[] => texts.flatMap((text) => text.trim().split(/\s+/));

test.each<[string, string[], object, Readonly<Record<string, string>>]>([
  [
    'kube-controller-manager',
    names(BOTH, CONTROLLER_MANAGER),
    CONTROLLER_MANAGER_FLAGS,
    UNSUPPORTED_CONTROLLER_FLAGS,
  ],
  ['kube-scheduler', names(BOTH, SCHEDULER), SCHEDULER_FLAGS, UNSUPPORTED_MANAGER_FLAGS],
])(
  'every flag of %s is implemented, or rejected with the reason',
  (_component, upstream, known, unsupported) => {
    const isKnown = (name: string): boolean => Object.hasOwn(known, name);
    const isRejected = (name: string): boolean => Object.hasOwn(unsupported, name);
    expect(upstream.filter((name) => isKnown(name) === isRejected(name))).toEqual([]);
  },
);

test('a flag that upstream has is rejected with the reason, unless it is implemented', () => {
  expect(() => rejectUnsupportedFlags(['--vmodule=a=1'], {}, UNSUPPORTED_MANAGER_FLAGS)).toThrow(
    '--vmodule is not supported: components log JSON lines',
  );
  rejectUnsupportedFlags(['--vmodule=a=1'], { vmodule: true }, UNSUPPORTED_MANAGER_FLAGS);
});
