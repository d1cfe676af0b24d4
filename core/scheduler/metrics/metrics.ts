import {
  exponentialBuckets,
  Registry,
  type Counter,
  type Gauge,
  type Histogram,
} from '../../base/metrics/index.ts';
import type { Family } from '../../base/metrics/index.ts';

export type AttemptResult = 'scheduled' | 'unschedulable' | 'error';
export type PendingQueue = 'active' | 'backoff' | 'unschedulable' | 'gated';

/** Upstream's names, labels and buckets, so that its dashboards read ours. */
export interface SchedulerMetrics {
  readonly registry: Registry;
  readonly scheduleAttempts: Family<Counter, readonly ['profile', 'result']>;
  readonly attemptDuration: Family<Histogram, readonly ['profile', 'result']>;
  readonly algorithmDuration: Histogram;
  readonly preemptionVictims: Histogram;
  readonly preemptionAttempts: Counter;
  readonly pendingPods: Family<Gauge, readonly ['queue']>;
  readonly podSchedulingSli: Family<Histogram, readonly ['attempts']>;
  readonly podSchedulingAttempts: Histogram;
  readonly extensionPointDuration: Family<Histogram, readonly ['extension_point', 'status', 'profile']>;
  readonly queueIncomingPods: Family<Counter, readonly ['queue', 'event']>;
  readonly permitWait: Family<Histogram, readonly ['result']>;
  readonly cacheSize: Family<Gauge, readonly ['type']>;
  readonly unschedulablePods: Family<Gauge, readonly ['plugin', 'profile']>;
}

const ATTEMPT_BUCKETS = exponentialBuckets(0.001, 2, 15);

export const schedulerMetrics = (registry: Registry = new Registry()): SchedulerMetrics => ({
  registry,
  scheduleAttempts: registry.counterFamily({
    name: 'scheduler_schedule_attempts_total',
    help: "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be scheduled, while 'error' means an internal scheduler problem.",
    labels: ['profile', 'result'],
  }),
  attemptDuration: registry.histogramFamily({
    name: 'scheduler_scheduling_attempt_duration_seconds',
    help: 'Scheduling attempt latency in seconds (scheduling algorithm + binding)',
    labels: ['profile', 'result'],
    buckets: ATTEMPT_BUCKETS,
  }),
  algorithmDuration: registry.histogram({
    name: 'scheduler_scheduling_algorithm_duration_seconds',
    help: 'Scheduling algorithm latency in seconds',
    buckets: ATTEMPT_BUCKETS,
  }),
  preemptionVictims: registry.histogram({
    name: 'scheduler_preemption_victims',
    help: 'Number of selected preemption victims',
    buckets: exponentialBuckets(1, 2, 7),
  }),
  preemptionAttempts: registry.counter({
    name: 'scheduler_preemption_attempts_total',
    help: 'Total preemption attempts in the cluster till now',
  }),
  pendingPods: registry.gaugeFamily({
    name: 'scheduler_pending_pods',
    help: "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' means number of pods in backoffQ; 'unschedulable' means number of pods in unschedulablePods that the scheduler attempted to schedule and failed; 'gated' is the number of unschedulable pods that the scheduler never attempted to schedule because they are gated.",
    labels: ['queue'],
  }),
  podSchedulingSli: registry.histogramFamily({
    name: 'scheduler_pod_scheduling_sli_duration_seconds',
    help: 'E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and might involve multiple scheduling attempts.',
    labels: ['attempts'],
    buckets: exponentialBuckets(0.01, 2, 20),
  }),
  podSchedulingAttempts: registry.histogram({
    name: 'scheduler_pod_scheduling_attempts',
    help: 'Number of attempts to successfully schedule a pod.',
    buckets: exponentialBuckets(1, 2, 5),
  }),
  extensionPointDuration: registry.histogramFamily({
    name: 'scheduler_framework_extension_point_duration_seconds',
    help: 'Latency for running all plugins of a specific extension point.',
    labels: ['extension_point', 'status', 'profile'],
    buckets: exponentialBuckets(0.0001, 2, 12),
  }),
  queueIncomingPods: registry.counterFamily({
    name: 'scheduler_queue_incoming_pods_total',
    help: 'Number of pods added to scheduling queues by event and queue type.',
    labels: ['queue', 'event'],
  }),
  permitWait: registry.histogramFamily({
    name: 'scheduler_permit_wait_duration_seconds',
    help: 'Duration of waiting on permit.',
    labels: ['result'],
    buckets: ATTEMPT_BUCKETS,
  }),
  cacheSize: registry.gaugeFamily({
    name: 'scheduler_cache_size',
    help: 'Number of nodes, pods, and assumed (bound) pods in the scheduler cache.',
    labels: ['type'],
  }),
  unschedulablePods: registry.gaugeFamily({
    name: 'scheduler_unschedulable_pods',
    help: 'The number of unschedulable pods broken down by plugin name. A pod will increment the gauge for all plugins that caused it to not schedule and so this metric only have meaning when broken down by plugin.',
    labels: ['plugin', 'profile'],
  }),
});

/** Attempts beyond this share one label, as upstream's do. */
const ATTEMPTS_LABEL_MAX = 15;
export const attemptsLabel = (attempts: number): string =>
  attempts > ATTEMPTS_LABEL_MAX ? `${ATTEMPTS_LABEL_MAX}+` : String(attempts);
