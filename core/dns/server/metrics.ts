import { exponentialBuckets, type Registry } from '../../base/metrics/index.ts';

const SIZE_BUCKETS = [
  0, 100, 200, 300, 400, 511, 1023, 2047, 4095, 8291, 16_000, 32_000, 48_000, 64_000,
] as const;

/** CoreDNS's names, so that its dashboards and alerts work as they are. */
export const dnsMetrics = (registry: Registry) => ({
  requests: registry.counterFamily({
    name: 'coredns_dns_requests_total',
    help: 'Counter of DNS requests made per zone, protocol and family.',
    labels: ['server', 'zone', 'view', 'proto', 'family', 'type'],
  }),
  responses: registry.counterFamily({
    name: 'coredns_dns_responses_total',
    help: 'Counter of response status codes.',
    labels: ['server', 'zone', 'view', 'rcode', 'plugin'],
  }),
  durationSeconds: registry.histogramFamily({
    name: 'coredns_dns_request_duration_seconds',
    help: 'Histogram of the time (in seconds) each request took per zone.',
    labels: ['server', 'zone', 'view'],
    buckets: exponentialBuckets(0.00025, 2, 16),
  }),
  requestBytes: registry.histogramFamily({
    name: 'coredns_dns_request_size_bytes',
    help: 'Size of the EDNS0 UDP buffer in bytes (64K for TCP) per zone and protocol.',
    labels: ['server', 'zone', 'view', 'proto'],
    buckets: SIZE_BUCKETS,
  }),
  responseBytes: registry.histogramFamily({
    name: 'coredns_dns_response_size_bytes',
    help: 'Size of the returned response in bytes.',
    labels: ['server', 'zone', 'view', 'proto'],
    buckets: SIZE_BUCKETS,
  }),
  panics: registry.counter({
    name: 'coredns_panics_total',
    help: 'A metrics that counts the number of panics.',
  }),
  cacheHits: registry.counterFamily({
    name: 'coredns_cache_hits_total',
    help: 'The count of cache hits.',
    labels: ['server', 'type', 'zones', 'view'],
  }),
  cacheMisses: registry.counterFamily({
    name: 'coredns_cache_misses_total',
    help: 'The count of cache misses. Deprecated, derive misses from cache hits/requests counters.',
    labels: ['server', 'zones', 'view'],
  }),
  cacheEntries: registry.gaugeFamily({
    name: 'coredns_cache_entries',
    help: 'The number of elements in the cache.',
    labels: ['server', 'type', 'zones', 'view'],
  }),
  upstreamSeconds: registry.histogramFamily({
    name: 'coredns_proxy_request_duration_seconds',
    help: 'Histogram of the time each request took.',
    labels: ['proxy_name', 'to', 'rcode'],
    buckets: exponentialBuckets(0.00025, 2, 16),
  }),
  rejected: registry.counter({
    name: 'coredns_forward_max_concurrent_rejects_total',
    help: 'Counter of the number of queries rejected because the concurrent queries were at maximum.',
  }),
});

export type DnsMetrics = ReturnType<typeof dnsMetrics>;
