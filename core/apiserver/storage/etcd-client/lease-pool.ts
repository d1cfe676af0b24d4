import type { Clock } from '../../../base/clock.ts';
import type { EtcdClient } from './client.ts';
import { METHOD } from './methods.ts';

/** Upstream's `--lease-reuse-duration-seconds` and its bound on keys of one lease. */
const REUSE_SECONDS = 60;
const KEYS_MAX = 1_000;
const REUSE_SHARE = 0.05;

interface SharedLease {
  readonly id: bigint;
  readonly expiresMs: number;
  keys: number;
}

/**
 * Leases for keys that end on their own (events). One lease serves all keys of about the same time to live that
 * are written within a minute: etcd then revokes hundreds of keys immediately, and never before their time.
 */
export class LeasePool {
  readonly #client: EtcdClient;
  readonly #clock: Clock;
  #current: SharedLease | undefined;
  #granting: { readonly ttlSeconds: number; readonly lease: Promise<SharedLease> } | undefined;

  constructor(client: EtcdClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  async lease(ttlSeconds: number): Promise<bigint> {
    const reuseMs = Math.min(REUSE_SECONDS, Math.max(1, REUSE_SHARE * ttlSeconds)) * 1000;
    const neededMs = this.#clock.monotonicMs() + ttlSeconds * 1000;
    const current = this.#current;
    // It lives at least as long as asked, and at most `reuseMs` longer.
    const fits =
      current !== undefined &&
      current.keys < KEYS_MAX &&
      current.expiresMs >= neededMs &&
      current.expiresMs <= neededMs + reuseMs;
    const lease = fits ? current : await this.#grant(ttlSeconds, reuseMs);
    lease.keys += 1;
    return lease.id;
  }

  /** Gives a lease its full time again; answers the seconds it has. For callers that hold one of their own. */
  async keepAlive(id: bigint): Promise<number> {
    const { TTL } = await this.#client.call(METHOD.leaseKeepAlive, { ID: id });
    return TTL;
  }

  async #grant(ttlSeconds: number, reuseMs: number): Promise<SharedLease> {
    if (this.#granting?.ttlSeconds === ttlSeconds) return this.#granting.lease;
    const lease = this.#ask(Math.ceil(ttlSeconds + reuseMs / 1000));
    const granting = { ttlSeconds, lease };
    this.#granting = granting;
    try {
      this.#current = await lease;
      return this.#current;
    } finally {
      if (this.#granting === granting) this.#granting = undefined;
    }
  }

  async #ask(grantSeconds: number): Promise<SharedLease> {
    const askedMs = this.#clock.monotonicMs();
    const { ID, TTL } = await this.#client.call(METHOD.leaseGrant, { TTL: grantSeconds });
    return { id: ID, expiresMs: askedMs + TTL * 1000, keys: 0 };
  }
}
