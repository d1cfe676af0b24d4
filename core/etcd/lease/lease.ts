import type { LeaseId, LeaseKey, LeaseView } from './types.ts';

const SECOND_MS = 1000;

/** Keys as one character a byte: strings are values to a Set, and their order is the order of the bytes. */
export const keyText = (key: LeaseKey): string =>
  typeof key === 'string' ? key : Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1');

/** One lease in memory. Its deadline means something on the leader only. */
export class Lease {
  readonly id: LeaseId;
  readonly ttlSeconds: number;
  /** What the last checkpoint left of it; 0 when there was none since the last renewal. */
  remainingTtlSeconds: number;
  /** Monotonic; Infinity while this member does not lead. */
  expiryMs = Infinity;
  readonly keys = new Set<string>();

  constructor(id: LeaseId, ttlSeconds: number, remainingTtlSeconds: number) {
    this.id = id;
    this.ttlSeconds = ttlSeconds;
    this.remainingTtlSeconds = remainingTtlSeconds;
  }

  get wholeMs(): number {
    return this.ttlSeconds * SECOND_MS;
  }

  /** What a new leader has to grant at least. */
  get owedSeconds(): number {
    return this.remainingTtlSeconds > 0 ? this.remainingTtlSeconds : this.ttlSeconds;
  }

  sortedKeys(): Uint8Array[] {
    return [...this.keys].sort().map((key) => Buffer.from(key, 'latin1'));
  }

  view(nowMs: number): LeaseView {
    return {
      id: this.id,
      grantedTtlSeconds: this.ttlSeconds,
      remainingMs: this.expiryMs - nowMs,
      keys: () => this.sortedKeys(),
    };
  }
}

/**
 * Delays expiries, never hastens them, so that no second sees more than `perSecondMax`: after a change of
 * leader, leases of one TTL would all end in the same moment. `leases` are sorted by expiry and stay so.
 */
export const spreadExpiries = (leases: readonly Lease[], perSecondMax: number): void => {
  for (let i = perSecondMax; i < leases.length; i += 1) {
    const lease = leases[i]!;
    lease.expiryMs = Math.max(lease.expiryMs, leases[i - perSecondMax]!.expiryMs + SECOND_MS);
  }
};
