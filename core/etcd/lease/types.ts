import { ReasonError } from '../../base/errors.ts';

/** int64, chosen by the client or by the server; 0 is no lease. */
export type LeaseId = bigint;
export const NO_LEASE: LeaseId = 0n;

export type LeaseReason = 'LeaseNotFound' | 'LeaseExist' | 'LeaseTTLTooLarge' | 'NotPrimary';

/** The texts are what a client of etcd is shown. */
export class LeaseError extends ReasonError<LeaseReason> {
  override readonly name = 'LeaseError';
}

export const leaseNotFound = (): LeaseError =>
  new LeaseError('LeaseNotFound', 'etcdserver: requested lease not found');
export const leaseExists = (): LeaseError => new LeaseError('LeaseExist', 'etcdserver: lease already exists');
export const leaseTtlTooLarge = (): LeaseError =>
  new LeaseError('LeaseTTLTooLarge', 'etcdserver: too large lease TTL');
export const notPrimary = (): LeaseError => new LeaseError('NotPrimary', 'not a primary lessor');

/** A key as bytes, or as a string of one character a byte (latin1), as the store keeps it. */
export type LeaseKey = Uint8Array | string;

/** How a lease stands at the moment of asking; later changes do not show. */
export interface LeaseView {
  readonly id: LeaseId;
  readonly grantedTtlSeconds: number;
  /** Negative once due and not yet revoked; Infinity where this member does not lead and so cannot know. */
  readonly remainingMs: number;
  /** Sorted by bytes. Copied on each call. */
  keys(): Uint8Array[];
}

/** How much of a lease was left when the leader looked; 0 clears it. */
export interface LeaseCheckpoint {
  readonly id: LeaseId;
  readonly remainingTtlSeconds: number;
}

/** Where leases are kept: the `lease` bucket, inside the transaction of the entry that is being applied. */
export interface LeaseRows {
  put(key: Uint8Array, value: Uint8Array): void;
  delete(key: Uint8Array): void;
}

export interface LeaseRow {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

export interface LeaseAttachment {
  readonly key: LeaseKey;
  readonly lease: LeaseId;
}

export interface LessorMetrics {
  granted(ttlSeconds: number): void;
  revoked(): void;
  /** Seen by the leader alone: the lease was revoked because its time was up. */
  expired(): void;
  renewed(): void;
}

/**
 * Leases of one member. Two kinds of calls:
 *
 * - From apply, the same on every member and in log order: `grant`, `revoke`, `checkpoint`, `attach`, `detach`.
 *   They write `LeaseRows` themselves.
 * - From the leader's own clock, after `promote` and until `demote`: `renew`, `takeExpired`,
 *   `takeDueCheckpoints`. Their outcome reaches the others as proposals only.
 */
export interface LessorPort {
  readonly isPrimary: boolean;
  readonly leaseCount: number;

  /** The lease, with the TTL that was really given. Throws LeaseTTLTooLarge, LeaseExist, LeaseNotFound (id 0). */
  grant(id: LeaseId, ttlSeconds: number): LeaseView;
  /** The keys to delete in the same transaction, in byte order, so that every member writes the same. */
  revoke(id: LeaseId): Uint8Array[];
  /** An unknown lease is no error: it was revoked in between. */
  checkpoint(checkpoint: LeaseCheckpoint): void;
  exists(id: LeaseId): boolean;
  /**
   * A key belongs to one lease: the previous lets go of it. Ask `exists` before: an unknown lease is passed over,
   * because entries that are applied again after a restart may name one that was revoked since.
   */
  attach(id: LeaseId, key: LeaseKey): void;
  /** Does nothing when the key is not attached to that lease. */
  detach(id: LeaseId, key: LeaseKey): void;
  leaseOf(key: LeaseKey): LeaseId;

  /**
   * The renewed TTL in seconds. Rejects with NotPrimary (ask the leader) or LeaseNotFound. A lease that is
   * due but not yet revoked answers when its fate is known, as a promise given now could be broken.
   */
  renew(id: LeaseId): Promise<number>;
  /** Due leases to propose revokes for, at most `countMax`; one that is not revoked comes again 3 s later. */
  takeExpired(countMax: number): LeaseId[];
  /** Remaining TTLs to propose, at most `countMax`; empty unless checkpoints are enabled. */
  takeDueCheckpoints(countMax: number): LeaseCheckpoint[];

  lookup(id: LeaseId): LeaseView | undefined;
  /** Soonest expiry first; by id where this member does not lead. */
  list(): LeaseId[];

  /** This member leads now: every lease gets its whole (or checkpointed) TTL and `extendMs` on top. */
  promote(extendMs: number): void;
  demote(): void;
  /** Forgets everything and takes what the backend holds. Attachments to unknown leases are skipped. */
  recover(state: {
    readonly rows: Iterable<LeaseRow>;
    readonly attachments: Iterable<LeaseAttachment>;
  }): void;
}
