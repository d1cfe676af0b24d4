import type { Counter, Family, Gauge, Histogram, Registry } from '../../base/metrics/index.ts';
import { DEFAULT_BUCKETS } from '../../base/metrics/index.ts';

/** Upstream's names, for the whole process: the nodes of one process are one target of a scrape. */
export interface KubeletMetrics {
  readonly runningPods: Gauge;
  readonly runningContainers: Gauge;
  readonly startedPods: Counter;
  readonly startedContainers: Family<Counter, readonly ['container_type']>;
  readonly startedContainerErrors: Family<Counter, readonly ['container_type', 'code']>;
  readonly podStartSeconds: Histogram;
  readonly probes: Family<Counter, readonly ['probe_type', 'result']>;
  readonly admissionRejections: Family<Counter, readonly ['reason']>;
}

export const kubeletMetrics = (registry: Registry): KubeletMetrics => ({
  runningPods: registry.gauge({
    name: 'kubelet_running_pods',
    help: 'Number of pods that have a running pod sandbox',
  }),
  runningContainers: registry.gauge({
    name: 'kubelet_running_containers',
    help: 'Number of containers currently running',
  }),
  startedPods: registry.counter({
    name: 'kubelet_started_pods_total',
    help: 'Cumulative number of pods started',
  }),
  startedContainers: registry.counterFamily({
    name: 'kubelet_started_containers_total',
    help: 'Cumulative number of containers started',
    labels: ['container_type'],
  }),
  startedContainerErrors: registry.counterFamily({
    name: 'kubelet_started_containers_errors_total',
    help: 'Cumulative number of errors when starting containers',
    labels: ['container_type', 'code'],
  }),
  podStartSeconds: registry.histogram({
    name: 'kubelet_pod_start_duration_seconds',
    help: 'Duration in seconds from kubelet seeing a pod for the first time to the pod starting to run',
    buckets: DEFAULT_BUCKETS,
  }),
  probes: registry.counterFamily({
    name: 'prober_probe_total',
    help: 'Cumulative number of a liveness, readiness or startup probe for a container by result.',
    labels: ['probe_type', 'result'],
  }),
  admissionRejections: registry.counterFamily({
    name: 'kubelet_admission_rejections_total',
    help: 'Cumulative number pod admission rejections by the Kubelet.',
    labels: ['reason'],
  }),
});
