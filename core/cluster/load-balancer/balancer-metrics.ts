import { DEFAULT_BUCKETS, type Registry } from '../../base/metrics/index.ts';

export const balancerMetrics = (registry: Registry) => ({
  up: registry.gaugeFamily({
    name: 'load_balancer_backend_up',
    help: 'Whether the backend accepts new connections.',
    labels: ['backend'],
  }),
  connections: registry.gaugeFamily({
    name: 'load_balancer_backend_connections',
    help: 'Open connections to the backend.',
    labels: ['backend'],
  }),
  opened: registry.counterFamily({
    name: 'load_balancer_backend_connections_total',
    help: 'Connections forwarded to the backend.',
    labels: ['backend'],
  }),
  connectFailures: registry.counterFamily({
    name: 'load_balancer_backend_connect_failures_total',
    help: 'Connections rejected by the backend.',
    labels: ['backend'],
  }),
  resets: registry.counterFamily({
    name: 'load_balancer_backend_resets_total',
    help: 'Connections reset because the backend was shutting down.',
    labels: ['backend'],
  }),
  checks: registry.histogramFamily({
    name: 'load_balancer_health_check_duration_seconds',
    help: 'Duration of readiness checks of the backend.',
    labels: ['backend'],
    buckets: DEFAULT_BUCKETS,
  }),
  refused: registry.counter({
    name: 'load_balancer_refused_connections_total',
    help: 'Clients reset because no backend was reachable.',
  }),
  dropped: registry.counter({
    name: 'load_balancer_dropped_connections_total',
    help: 'Clients reset because the connection limit was reached.',
  }),
});

export type BalancerMetrics = ReturnType<typeof balancerMetrics>;
