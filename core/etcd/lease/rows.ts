import { ReasonError } from '../../base/errors.ts';
import { int64, int64Number, message } from '../proto/wire/index.ts';
import type { LeaseId } from './types.ts';

export const LEASE_BUCKET = 'lease';
const LEASE_KEY_BYTES = 8;

/** leasepb.Lease, as etcd stores it. RemainingTTL 0 means that no checkpoint was taken. */
const StoredLease = message('leasepb.Lease', {
  ID: int64(1),
  TTL: int64Number(2),
  RemainingTTL: int64Number(3),
});

export interface LeaseRecord {
  readonly id: LeaseId;
  readonly ttlSeconds: number;
  readonly remainingTtlSeconds: number;
}

export const leaseRowKey = (id: LeaseId): Uint8Array => {
  const key = Buffer.allocUnsafe(LEASE_KEY_BYTES);
  key.writeBigInt64BE(id);
  return key;
};

export const encodeLeaseRow = (lease: LeaseRecord): Uint8Array =>
  StoredLease.encode({ ID: lease.id, TTL: lease.ttlSeconds, RemainingTTL: lease.remainingTtlSeconds });

/** Throws with reason Malformed. The id is in the value; the key only orders the bucket. */
export const decodeLeaseRow = (key: Uint8Array, value: Uint8Array): LeaseRecord => {
  if (key.length !== LEASE_KEY_BYTES) {
    throw new ReasonError('Malformed', `a key of ${key.length} bytes in the lease bucket is no lease id`);
  }
  const { ID, TTL, RemainingTTL } = StoredLease.decode(value);
  return { id: ID, ttlSeconds: TTL, remainingTtlSeconds: RemainingTTL };
};
