import { expect, test } from 'vitest';
import { Registry } from '../../base/metrics/index.ts';
import { actionOf, createHpaMetrics } from './hpa-metrics.ts';

test('figures have upstream’s names and labels, and an autoscaler that is gone has none', () => {
  const registry = new Registry();
  const metrics = createHpaMetrics(registry);
  metrics.reconciled(actionOf(2, 4), 'none', 0.25);
  metrics.computed('Resource', actionOf(4, 4), 'internal', 0.5);
  metrics.count(3);
  metrics.desired('default', 'web', 4);
  metrics.desired('default', 'gone', 1);
  metrics.forget('default', 'gone');
  const lines = registry
    .expose()
    .split('\n')
    .filter((line) => !line.startsWith('#') && !line.includes('_bucket') && line !== '');
  expect(lines.sort()).toEqual([
    'horizontal_pod_autoscaler_controller_desired_replicas{hpa_name="web",namespace="default"} 4',
    'horizontal_pod_autoscaler_controller_metric_computation_duration_seconds_count{action="none",error="internal",metric_type="Resource"} 1',
    'horizontal_pod_autoscaler_controller_metric_computation_duration_seconds_sum{action="none",error="internal",metric_type="Resource"} 0.5',
    'horizontal_pod_autoscaler_controller_metric_computation_total{action="none",error="internal",metric_type="Resource"} 1',
    'horizontal_pod_autoscaler_controller_num_horizontal_pod_autoscalers 3',
    'horizontal_pod_autoscaler_controller_reconciliation_duration_seconds_count{action="scale_up",error="none"} 1',
    'horizontal_pod_autoscaler_controller_reconciliation_duration_seconds_sum{action="scale_up",error="none"} 0.25',
    'horizontal_pod_autoscaler_controller_reconciliations_total{action="scale_up",error="none"} 1',
  ]);
});
