export * from './types.ts';
export {
  LEASE_CHECKPOINT_INTERVAL_SECONDS,
  LEASE_CHECKPOINTS_PER_ENTRY_MAX,
  LEASE_TICK_MS,
  LEASE_TTL_SECONDS_MAX,
  LEASES_REVOKED_PER_TICK_MAX,
  Lessor,
  minLeaseTtlSeconds,
} from './lessor.ts';
export type { LessorOptions } from './lessor.ts';
export { leaseMetrics } from './metrics.ts';
export { decodeLeaseRow, encodeLeaseRow, LEASE_BUCKET, leaseRowKey } from './rows.ts';
export type { LeaseRecord } from './rows.ts';
