import { exponentialBuckets, linearBuckets, type Registry } from '../base/metrics/index.ts';

const FAMILY = 'IPv4';
const LABELS = ['ip_family'] as const;

/** Upstream's names and buckets; those of iptables, ipvs and nftables have nothing to count here. */
export const proxyMetrics = (registry: Registry) => {
  const gauge = (name: string, help: string) =>
    registry.gaugeFamily({ name: `kubeproxy_${name}`, help, labels: LABELS }).labels(FAMILY);
  const counter = (name: string, help: string) =>
    registry.counterFamily({ name: `kubeproxy_${name}`, help, labels: LABELS }).labels(FAMILY);
  const histogram = (name: string, help: string, buckets: readonly number[]) =>
    registry.histogramFamily({ name: `kubeproxy_${name}`, help, labels: LABELS, buckets }).labels(FAMILY);
  const codes = (name: string, help: string) =>
    registry.counterFamily({ name: `kubeproxy_${name}`, help, labels: ['code'] });
  return {
    syncDuration: histogram(
      'sync_proxy_rules_duration_seconds',
      'SyncProxyRules latency in seconds',
      exponentialBuckets(0.001, 2, 15),
    ),
    lastSynced: gauge(
      'sync_proxy_rules_last_timestamp_seconds',
      'The last time proxy rules were successfully synced',
    ),
    lastQueued: gauge(
      'sync_proxy_rules_last_queued_timestamp_seconds',
      'The last time a sync of proxy rules was queued',
    ),
    networkProgramming: histogram(
      'network_programming_duration_seconds',
      'In Cluster Network Programming Latency in seconds',
      [
        0,
        ...linearBuckets(0.25, 0.25, 2),
        ...linearBuckets(1, 1, 59),
        ...linearBuckets(60, 5, 12),
        ...linearBuckets(120, 30, 7),
      ],
    ),
    endpointChangesPending: gauge(
      'sync_proxy_rules_endpoint_changes_pending',
      'Pending proxy rules Endpoint changes',
    ),
    endpointChanges: counter(
      'sync_proxy_rules_endpoint_changes_total',
      'Cumulative proxy rules Endpoint changes',
    ),
    serviceChangesPending: gauge(
      'sync_proxy_rules_service_changes_pending',
      'Pending proxy rules Service changes',
    ),
    serviceChanges: counter(
      'sync_proxy_rules_service_changes_total',
      'Cumulative proxy rules Service changes',
    ),
    noLocalEndpoints: registry.gaugeFamily({
      name: 'kubeproxy_sync_proxy_rules_no_local_endpoints',
      help: 'Number of services with a Local traffic policy and no endpoints',
      labels: ['ip_family', 'traffic_policy'],
    }),
    healthz: codes('proxy_healthz_total', 'Cumulative proxy healthz HTTP status'),
    livez: codes('proxy_livez_total', 'Cumulative proxy livez HTTP status'),
    listeners: registry.gaugeFamily({
      name: 'kubeproxy_loopback_listeners',
      help: 'Places of services by what became of listening on them',
      labels: ['state'],
    }),
    connections: registry.gauge({
      name: 'kubeproxy_loopback_connections',
      help: 'Connections and datagram sessions that are forwarded',
    }),
    connectionsOpened: registry.counter({
      name: 'kubeproxy_loopback_connections_total',
      help: 'Cumulative connections and datagram sessions that were forwarded',
    }),
    refused: registry.counter({
      name: 'kubeproxy_loopback_refused_connections_total',
      help: 'Cumulative connections that were reset because no endpoint took them',
    }),
    dropped: registry.counter({
      name: 'kubeproxy_loopback_dropped_connections_total',
      help: 'Cumulative connections that were reset because the bound on connections was reached',
    }),
    connectFailures: registry.counter({
      name: 'kubeproxy_loopback_connect_failures_total',
      help: 'Cumulative connections that an endpoint did not take',
    }),
  };
};

export type ProxyMetrics = ReturnType<typeof proxyMetrics>;
