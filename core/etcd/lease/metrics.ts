import { exponentialBuckets, type Registry } from '../../base/metrics/index.ts';
import type { LessorMetrics } from './types.ts';

/** One second to three months. */
const TTL_BUCKETS = exponentialBuckets(1, 2, 24);

export const leaseMetrics = (registry: Registry): LessorMetrics => {
  const granted = registry.counter({
    name: 'etcd_debugging_lease_granted_total',
    help: 'The total number of granted leases.',
  });
  const revoked = registry.counter({
    name: 'etcd_debugging_lease_revoked_total',
    help: 'The total number of revoked leases.',
  });
  const renewed = registry.counter({
    name: 'etcd_debugging_lease_renewed_total',
    help: 'The number of renewed leases seen by the leader.',
  });
  const expired = registry.counter({
    name: 'etcd_debugging_server_lease_expired_total',
    help: 'The total number of expired leases.',
  });
  const ttls = registry.histogram({
    name: 'etcd_debugging_lease_ttl_total',
    help: 'Bucketed histogram of lease TTLs.',
    buckets: TTL_BUCKETS,
  });
  return {
    granted(ttlSeconds) {
      granted.inc();
      ttls.observe(ttlSeconds);
    },
    revoked: () => revoked.inc(),
    renewed: () => renewed.inc(),
    expired: () => expired.inc(),
  };
};
