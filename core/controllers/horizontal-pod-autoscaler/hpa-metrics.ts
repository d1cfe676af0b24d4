import { exponentialBuckets, type Registry } from '../../base/metrics/index.ts';

export type HpaAction = 'scale_up' | 'scale_down' | 'none';
export type HpaFault = 'spec' | 'internal' | 'none';

export const actionOf = (from: number, to: number): HpaAction =>
  to > from ? 'scale_up' : to < from ? 'scale_down' : 'none';

const BUCKETS = exponentialBuckets(0.001, 2, 15);
const SUBSYSTEM = 'horizontal_pod_autoscaler_controller';

export interface HpaMetrics {
  reconciled(action: HpaAction, fault: HpaFault, seconds: number): void;
  computed(type: string, action: HpaAction, fault: HpaFault, seconds: number): void;
  /** How many autoscalers there are. */
  count(autoscalers: number): void;
  desired(namespace: string, name: string, replicas: number): void;
  forget(namespace: string, name: string): void;
}

/** Upstream's figures of the controller. */
export const createHpaMetrics = (registry: Registry): HpaMetrics => {
  const reconciliations = registry.counterFamily({
    name: `${SUBSYSTEM}_reconciliations_total`,
    help: 'Number of reconciliations of HPA controller.',
    labels: ['action', 'error'],
  });
  const reconciliationSeconds = registry.histogramFamily({
    name: `${SUBSYSTEM}_reconciliation_duration_seconds`,
    help: 'The time(seconds) that the HPA controller takes to reconcile once.',
    labels: ['action', 'error'],
    buckets: BUCKETS,
  });
  const computations = registry.counterFamily({
    name: `${SUBSYSTEM}_metric_computation_total`,
    help: 'Number of metric computations.',
    labels: ['action', 'error', 'metric_type'],
  });
  const computationSeconds = registry.histogramFamily({
    name: `${SUBSYSTEM}_metric_computation_duration_seconds`,
    help: 'The time(seconds) that the HPA controller takes to calculate one metric.',
    labels: ['action', 'error', 'metric_type'],
    buckets: BUCKETS,
  });
  const controlled = registry.gauge({
    name: `${SUBSYSTEM}_num_horizontal_pod_autoscalers`,
    help: 'Current number of controlled HPA objects.',
  });
  const desiredReplicas = registry.gaugeFamily({
    name: `${SUBSYSTEM}_desired_replicas`,
    help: 'Current desired replica count for HPA objects.',
    labels: ['namespace', 'hpa_name'],
  });
  return {
    reconciled(action, fault, seconds) {
      reconciliations.labels(action, fault).inc();
      reconciliationSeconds.labels(action, fault).observe(seconds);
    },
    computed(type, action, fault, seconds) {
      computations.labels(action, fault, type).inc();
      computationSeconds.labels(action, fault, type).observe(seconds);
    },
    count: (autoscalers) => controlled.set(autoscalers),
    desired: (namespace, name, replicas) => desiredReplicas.labels(namespace, name).set(replicas),
    forget: (namespace, name) => desiredReplicas.remove(namespace, name),
  };
};
