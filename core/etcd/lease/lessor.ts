import type { Clock } from '../../base/clock.ts';
import { DeadlineHeap } from './deadline-heap.ts';
import { keyText, Lease, spreadExpiries } from './lease.ts';
import { decodeLeaseRow, encodeLeaseRow, leaseRowKey } from './rows.ts';
import {
  leaseExists,
  leaseNotFound,
  leaseTtlTooLarge,
  NO_LEASE,
  notPrimary,
  type LeaseAttachment,
  type LeaseCheckpoint,
  type LeaseId,
  type LeaseKey,
  type LeaseRow,
  type LeaseRows,
  type LeaseView,
  type LessorMetrics,
  type LessorPort,
} from './types.ts';

/** etcd's MaxLeaseTTL: 285 years, far enough from the edge of an int64 of nanoseconds. */
export const LEASE_TTL_SECONDS_MAX = 9_000_000_000;
/** How often the leader is expected to ask for due leases and checkpoints. */
export const LEASE_TICK_MS = 500;
/** etcd revokes at most 1000 leases a second. */
export const LEASES_REVOKED_PER_TICK_MAX = 500;
export const LEASE_CHECKPOINTS_PER_ENTRY_MAX = 1000;
export const LEASE_CHECKPOINT_INTERVAL_SECONDS = 300;

const SECOND_MS = 1000;
/** A revoke that was proposed may get lost with a leader; then it is asked for again. */
const EXPIRED_RETRY_MS = 3 * SECOND_MS;
/** Below the revoke rate, so that a pile-up leaves room for leases that end on their own. */
const PILED_EXPIRIES_PER_SECOND_MAX = 750;

/** A lease must outlive an election, or no one could renew it in time. */
export const minLeaseTtlSeconds = (electionTimeoutMs: number): number =>
  Math.ceil((3 * electionTimeoutMs) / 2 / SECOND_MS);

export interface LessorOptions {
  readonly clock: Clock;
  readonly rows: LeaseRows;
  readonly minTtlSeconds: number;
  readonly metrics?: LessorMetrics;
  /** Enables checkpoints. Resolves once the entry is applied here, rejects when that is not certain. */
  readonly proposeCheckpoint?: (checkpoint: LeaseCheckpoint) => Promise<void>;
  readonly checkpointIntervalSeconds?: number;
}

interface Waiter {
  readonly lease: Lease;
  readonly settle: (error: Error) => void;
}

export class Lessor implements LessorPort {
  readonly #options: LessorOptions;
  readonly #checkpointIntervalSeconds: number;
  readonly #leases = new Map<LeaseId, Lease>();
  readonly #leaseByKey = new Map<string, Lease>();
  readonly #expiries = new DeadlineHeap<Lease>();
  readonly #checkpoints = new DeadlineHeap<Lease>();
  /** Renewals of leases that are due: bounded by the requests that the server lets in. */
  readonly #waiters = new Set<Waiter>();
  #primary = false;

  constructor(options: LessorOptions) {
    this.#options = options;
    this.#checkpointIntervalSeconds = options.checkpointIntervalSeconds ?? LEASE_CHECKPOINT_INTERVAL_SECONDS;
  }

  get isPrimary(): boolean {
    return this.#primary;
  }

  get leaseCount(): number {
    return this.#leases.size;
  }

  grant(id: LeaseId, ttlSeconds: number): LeaseView {
    if (id === NO_LEASE) throw leaseNotFound();
    if (ttlSeconds > LEASE_TTL_SECONDS_MAX) throw leaseTtlTooLarge();
    if (this.#leases.has(id)) throw leaseExists();
    const lease = new Lease(id, Math.max(ttlSeconds, this.#options.minTtlSeconds), 0);
    this.#leases.set(id, lease);
    this.#save(lease);
    if (this.#primary) {
      this.#expireAt(lease, this.#nowMs + lease.wholeMs);
      this.#scheduleCheckpoint(lease);
    }
    this.#options.metrics?.granted(lease.ttlSeconds);
    return lease.view(this.#nowMs);
  }

  revoke(id: LeaseId): Uint8Array[] {
    const lease = this.#require(id);
    this.#leases.delete(id);
    this.#expiries.delete(lease);
    this.#checkpoints.delete(lease);
    for (const key of lease.keys) this.#leaseByKey.delete(key);
    this.#options.rows.delete(leaseRowKey(id));
    this.#options.metrics?.revoked();
    if (lease.expiryMs <= this.#nowMs) this.#options.metrics?.expired();
    this.#settleWaiters((waiter) => waiter.lease === lease, leaseNotFound);
    return lease.sortedKeys();
  }

  checkpoint({ id, remainingTtlSeconds }: LeaseCheckpoint): void {
    const lease = this.#leases.get(id);
    if (lease === undefined) return;
    // Deadlines stay as they are: the remainder counts when the next leader takes over.
    lease.remainingTtlSeconds = remainingTtlSeconds;
    this.#save(lease);
    if (this.#primary) this.#scheduleCheckpoint(lease);
  }

  exists(id: LeaseId): boolean {
    return this.#leases.has(id);
  }

  attach(id: LeaseId, key: LeaseKey): void {
    const lease = this.#leases.get(id);
    if (lease !== undefined) this.#attach(lease, keyText(key));
  }

  detach(id: LeaseId, key: LeaseKey): void {
    const text = keyText(key);
    const lease = this.#leaseByKey.get(text);
    if (lease?.id !== id) return;
    lease.keys.delete(text);
    this.#leaseByKey.delete(text);
  }

  leaseOf(key: LeaseKey): LeaseId {
    return this.#leaseByKey.get(keyText(key))?.id ?? NO_LEASE;
  }

  async renew(id: LeaseId): Promise<number> {
    const lease = this.#requireHere(id);
    if (lease.expiryMs <= this.#nowMs) return this.#fateOf(lease);
    const { proposeCheckpoint } = this.#options;
    if (proposeCheckpoint !== undefined && lease.remainingTtlSeconds > 0) {
      await proposeCheckpoint({ id, remainingTtlSeconds: 0 });
      if (this.#requireHere(id) !== lease) throw leaseNotFound();
      if (lease.expiryMs <= this.#nowMs) return this.#fateOf(lease);
    }
    this.#expireAt(lease, this.#nowMs + lease.wholeMs);
    this.#options.metrics?.renewed();
    return lease.ttlSeconds;
  }

  takeExpired(countMax: number): LeaseId[] {
    const nowMs = this.#nowMs;
    const expired: LeaseId[] = [];
    for (
      let due = this.#expiries.first;
      due !== undefined && due.dueMs <= nowMs;
      due = this.#expiries.first
    ) {
      if (expired.length === countMax) break;
      expired.push(due.item.id);
      this.#expiries.set(due.item, nowMs + EXPIRED_RETRY_MS);
    }
    return expired;
  }

  takeDueCheckpoints(countMax: number): LeaseCheckpoint[] {
    const nowMs = this.#nowMs;
    const taken: LeaseCheckpoint[] = [];
    for (
      let due = this.#checkpoints.first;
      due !== undefined && due.dueMs <= nowMs;
      due = this.#checkpoints.first
    ) {
      if (taken.length === countMax) break;
      const lease = due.item;
      if (lease.expiryMs <= nowMs) {
        this.#checkpoints.delete(lease);
        continue;
      }
      // The entry that stores it schedules the next one; this one is for an entry that gets lost.
      this.#checkpoints.set(lease, nowMs + this.#checkpointIntervalSeconds * SECOND_MS);
      const remainingTtlSeconds = Math.ceil((lease.expiryMs - nowMs) / SECOND_MS);
      if (remainingTtlSeconds < lease.ttlSeconds) taken.push({ id: lease.id, remainingTtlSeconds });
    }
    return taken;
  }

  lookup(id: LeaseId): LeaseView | undefined {
    return this.#leases.get(id)?.view(this.#nowMs);
  }

  list(): LeaseId[] {
    return this.#byExpiry().map((lease) => lease.id);
  }

  promote(extendMs: number): void {
    this.#primary = true;
    const nowMs = this.#nowMs;
    for (const lease of this.#leases.values()) {
      lease.expiryMs = nowMs + lease.owedSeconds * SECOND_MS + extendMs;
    }
    const leases = this.#byExpiry();
    spreadExpiries(leases, PILED_EXPIRIES_PER_SECOND_MAX);
    for (const lease of leases) {
      this.#expireAt(lease, lease.expiryMs);
      this.#scheduleCheckpoint(lease);
    }
  }

  demote(): void {
    this.#primary = false;
    for (const lease of this.#leases.values()) lease.expiryMs = Infinity;
    this.#expiries.clear();
    this.#checkpoints.clear();
    this.#settleWaiters(() => true, notPrimary);
  }

  recover(state: {
    readonly rows: Iterable<LeaseRow>;
    readonly attachments: Iterable<LeaseAttachment>;
  }): void {
    this.demote();
    this.#leases.clear();
    this.#leaseByKey.clear();
    for (const { key, value } of state.rows) {
      const { id, ttlSeconds, remainingTtlSeconds } = decodeLeaseRow(key, value);
      const ttl = Math.max(ttlSeconds, this.#options.minTtlSeconds);
      this.#leases.set(id, new Lease(id, ttl, remainingTtlSeconds));
    }
    for (const { key, lease } of state.attachments) this.attach(lease, key);
  }

  get #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  #require(id: LeaseId): Lease {
    const lease = this.#leases.get(id);
    if (lease === undefined) throw leaseNotFound();
    return lease;
  }

  #requireHere(id: LeaseId): Lease {
    if (!this.#primary) throw notPrimary();
    return this.#require(id);
  }

  #attach(lease: Lease, key: string): void {
    this.#leaseByKey.get(key)?.keys.delete(key);
    lease.keys.add(key);
    this.#leaseByKey.set(key, lease);
  }

  #save(lease: Lease): void {
    this.#options.rows.put(leaseRowKey(lease.id), encodeLeaseRow(lease));
  }

  #expireAt(lease: Lease, expiryMs: number): void {
    lease.expiryMs = expiryMs;
    this.#expiries.set(lease, expiryMs);
  }

  #scheduleCheckpoint(lease: Lease): void {
    if (this.#options.proposeCheckpoint === undefined) return;
    if (lease.owedSeconds <= this.#checkpointIntervalSeconds) this.#checkpoints.delete(lease);
    else this.#checkpoints.set(lease, this.#nowMs + this.#checkpointIntervalSeconds * SECOND_MS);
  }

  #byExpiry(): Lease[] {
    return [...this.#leases.values()].sort((a, b) =>
      a.expiryMs === b.expiryMs ? (a.id < b.id ? -1 : 1) : a.expiryMs - b.expiryMs,
    );
  }

  /** A due lease is revoked, or this member stops leading before that; only then its renewal is answered. */
  #fateOf(lease: Lease): Promise<never> {
    return new Promise((_, reject) => this.#waiters.add({ lease, settle: reject }));
  }

  #settleWaiters(concerned: (waiter: Waiter) => boolean, error: () => Error): void {
    for (const waiter of this.#waiters) {
      if (!concerned(waiter)) continue;
      this.#waiters.delete(waiter);
      waiter.settle(error());
    }
  }
}
