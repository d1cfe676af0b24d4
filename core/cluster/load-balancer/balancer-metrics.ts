import { DEFAULT_BUCKETS, type Registry } from '../../base/metrics/index.ts';

export const balancerMetrics = (registry: Registry) => ({
  up: registry.gaugeFamily({
    name: 'load_balancer_backend_up',
    help: 'Whether the backend takes new connections.',
    labels: ['backend'],
  }),
  connections: registry.gaugeFamily({
    name: 'load_balancer_backend_connections',
    help: 'Connections that are open to the backend.',
    labels: ['backend'],
  }),
  opened: registry.counterFamily({
    name: 'load_balancer_backend_connections_total',
    help: 'Connections that were passed on to the backend.',
    labels: ['backend'],
  }),
  connectFailures: registry.counterFamily({
    name: 'load_balancer_backend_connect_failures_total',
    help: 'Connections that the backend did not take.',
    labels: ['backend'],
  }),
  resets: registry.counterFamily({
    name: 'load_balancer_backend_resets_total',
    help: 'Connections that were reset because the backend was going away.',
    labels: ['backend'],
  }),
  checks: registry.histogramFamily({
    name: 'load_balancer_health_check_duration_seconds',
    help: 'How long the backend took to say that it is ready.',
    labels: ['backend'],
    buckets: DEFAULT_BUCKETS,
  }),
  refused: registry.counter({
    name: 'load_balancer_refused_connections_total',
    help: 'Clients that were reset because no backend could be reached.',
  }),
  dropped: registry.counter({
    name: 'load_balancer_dropped_connections_total',
    help: 'Clients that were reset because the bound on connections was reached.',
  }),
});

export type BalancerMetrics = ReturnType<typeof balancerMetrics>;
