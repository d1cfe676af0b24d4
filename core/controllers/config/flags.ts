import { boolean, durationMs, flag, integer, oneOf, text } from '../../base/flags.ts';
import type { FlagKind } from '../../base/flags.ts';
import { managerFlags } from '../../component/flags.ts';
import { CONTROLLER_FLAGS } from './shared-flags.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const decimal: FlagKind<number> = {
  type: 'float',
  parse(value) {
    const number = /^\d*\.?\d+$/.test(value) ? Number(value) : NaN;
    if (!Number.isFinite(number)) throw new Error('must be a number');
    return number;
  },
};

const workers = (count: number, of: string) =>
  flag(integer({ min: 1, max: 1000 }), count, `${of} synced concurrently`);

/** kube-controller-manager's own flags, by name and default; what this manager does not have is absent. */
export const CONTROLLER_MANAGER_FLAGS = {
  ...managerFlags({ port: 10_257, leaseName: 'kube-controller-manager' }),
  ...CONTROLLER_FLAGS,
  'cluster-name': flag(text, 'kubernetes', 'name of the cluster'),
  'cluster-cidr': flag(text, '', 'range of pod addresses'),
  'allocate-node-cidrs': flag(boolean, false, 'allocate a range of --cluster-cidr to each node'),
  'node-cidr-mask-size': flag(integer({ min: 8, max: 30 }), 24, 'mask size of these ranges'),
  'service-cluster-ip-range': flag(text, '', 'range of service addresses'),
  'root-ca-file': flag(text, '', 'CA that is published in every namespace'),
  'service-account-private-key-file': flag(text, '', 'key that signs service account tokens'),
  'cluster-signing-cert-file': flag(text, '', 'CA that signs certificate requests'),
  'cluster-signing-key-file': flag(text, '', 'private key of this certificate'),
  'cluster-signing-kube-apiserver-client-cert-file': flag(
    text,
    '',
    'CA of kubernetes.io/kube-apiserver-client alone',
  ),
  'cluster-signing-kube-apiserver-client-key-file': flag(text, '', 'private key of this certificate'),
  'cluster-signing-kubelet-client-cert-file': flag(
    text,
    '',
    'CA of kubernetes.io/kube-apiserver-client-kubelet alone',
  ),
  'cluster-signing-kubelet-client-key-file': flag(text, '', 'private key of this certificate'),
  'cluster-signing-kubelet-serving-cert-file': flag(text, '', 'CA of kubernetes.io/kubelet-serving alone'),
  'cluster-signing-kubelet-serving-key-file': flag(text, '', 'private key of this certificate'),
  'cluster-signing-legacy-unknown-cert-file': flag(text, '', 'CA of kubernetes.io/legacy-unknown alone'),
  'cluster-signing-legacy-unknown-key-file': flag(text, '', 'private key of this certificate'),
  'cluster-signing-duration': flag(durationMs, 365 * DAY_MS, 'maximum lifetime of a signed certificate'),
  'legacy-service-account-token-clean-up-period': flag(
    durationMs,
    365 * DAY_MS,
    'how long a generated service account token may stay unused before it is cleaned up',
  ),
  'metrics-server-port': flag(
    integer({ min: 0, max: 65_535 }),
    0,
    'port on which the leader serves metrics.k8s.io to the API servers (0 disables it; not upstream)',
  ),
  'node-monitor-period': flag(durationMs, 5 * SECOND_MS, 'interval between checks of node health'),
  'node-monitor-grace-period': flag(
    durationMs,
    40 * SECOND_MS,
    'time without a heartbeat before a node is not ready (upstream: 50s)',
  ),
  'node-startup-grace-period': flag(durationMs, MINUTE_MS, 'the same for a node that is starting'),
  'node-eviction-rate': flag(decimal, 0.1, 'nodes per second whose pods are evicted in a healthy zone'),
  'secondary-node-eviction-rate': flag(decimal, 0.01, 'the same in an unhealthy zone'),
  'large-cluster-size-threshold': flag(
    integer({ min: 0 }),
    50,
    'number of nodes above which a zone is large',
  ),
  'unhealthy-zone-threshold': flag(decimal, 0.55, 'fraction of not-ready nodes that makes a zone unhealthy'),
  'terminated-pod-gc-threshold': flag(integer({ min: 0 }), 12_500, 'terminated pods to keep (0: all)'),
  'namespace-sync-period': flag(durationMs, 5 * MINUTE_MS, 'interval between namespace syncs'),
  'resource-quota-sync-period': flag(durationMs, 5 * MINUTE_MS, 'how often quota usage is recalculated'),
  'pvclaimbinder-sync-period': flag(durationMs, 15 * SECOND_MS, 'interval between volume syncs'),
  'max-endpoints-per-slice': flag(integer({ min: 1, max: 1000 }), 100, 'endpoints in one EndpointSlice'),
  'enable-garbage-collector': flag(oneOf('true'), 'true', 'the garbage collector is always enabled'),
  'horizontal-pod-autoscaler-sync-period': flag(
    durationMs,
    15 * SECOND_MS,
    'how often the number of pods is recalculated',
  ),
  'horizontal-pod-autoscaler-downscale-stabilization': flag(
    durationMs,
    5 * MINUTE_MS,
    'how far back recommendations keep an autoscaler from scaling down',
  ),
  'horizontal-pod-autoscaler-tolerance': flag(
    decimal,
    0.1,
    'how far usage may be from its target before an autoscaler scales, as a part of the target',
  ),
  'horizontal-pod-autoscaler-cpu-initialization-period': flag(
    durationMs,
    5 * MINUTE_MS,
    'time after the start of a pod in which its CPU samples may be skipped',
  ),
  'horizontal-pod-autoscaler-initial-readiness-delay': flag(
    durationMs,
    30 * SECOND_MS,
    'time after the start of a pod in which readiness changes count as initial readiness',
  ),
  'concurrent-horizontal-pod-autoscaler-syncs': workers(5, 'horizontal pod autoscalers'),
  'concurrent-deployment-syncs': workers(5, 'deployments'),
  'concurrent-replicaset-syncs': workers(5, 'replica sets'),
  'concurrent-rc-syncs': workers(5, 'replication controllers'),
  'concurrent-statefulset-syncs': workers(5, 'stateful sets'),
  'concurrent-daemonset-syncs': workers(2, 'daemon sets'),
  'concurrent-job-syncs': workers(5, 'jobs'),
  'concurrent-cron-job-syncs': workers(5, 'cron jobs'),
  'concurrent-endpoint-syncs': workers(5, 'endpoints'),
  'concurrent-service-endpoint-syncs': workers(5, 'services'),
  'concurrent-namespace-syncs': workers(10, 'namespaces'),
  'concurrent-gc-syncs': workers(20, 'garbage'),
  'concurrent-resource-quota-syncs': workers(5, 'quotas'),
  'concurrent-serviceaccount-token-syncs': workers(5, 'tokens'),
  'concurrent-ttl-after-finished-syncs': workers(5, 'finished jobs'),
} as const;
