import type { Counter, Family, Histogram, Registry } from '../../base/metrics/index.ts';

const DURATION_BUCKETS_SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/** The metrics of client-go that dashboards read, under its names. */
export interface RequestMetrics {
  readonly requests: Family<Counter, readonly ['code', 'method', 'host']>;
  readonly durations: Family<Histogram, readonly ['verb', 'host']>;
  readonly waits: Family<Histogram, readonly ['verb', 'host']>;
  readonly retries: Family<Counter, readonly ['code', 'verb', 'host']>;
}

const registered = new WeakMap<Registry, RequestMetrics>();

/** One set for each registry: several clients of a component share it. */
export const requestMetricsOf = (registry: Registry): RequestMetrics => {
  const known = registered.get(registry);
  if (known) return known;
  const metrics: RequestMetrics = {
    requests: registry.counterFamily({
      name: 'rest_client_requests_total',
      help: 'Number of HTTP requests, partitioned by status code, method, and host.',
      labels: ['code', 'method', 'host'],
    }),
    durations: registry.histogramFamily({
      name: 'rest_client_request_duration_seconds',
      help: 'Request latency in seconds. Broken down by verb, and host.',
      labels: ['verb', 'host'],
      buckets: DURATION_BUCKETS_SECONDS,
    }),
    waits: registry.histogramFamily({
      name: 'rest_client_rate_limiter_duration_seconds',
      help: 'Client side rate limiter latency in seconds. Broken down by verb, and host.',
      labels: ['verb', 'host'],
      buckets: DURATION_BUCKETS_SECONDS,
    }),
    retries: registry.counterFamily({
      name: 'rest_client_request_retries_total',
      help: 'Number of request retries, partitioned by status code, verb, and host.',
      labels: ['code', 'verb', 'host'],
    }),
  };
  registered.set(registry, metrics);
  return metrics;
};
