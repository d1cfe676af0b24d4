import { messageOf } from '../../base/errors.ts';
import { isAlreadyExists, isConflict, isForbidden, isNotFound } from '../../api/meta/status.ts';
import type { RequestOptions } from '../client.ts';
import type { Stored } from '../kind.ts';
import type { Lease } from '../kinds.ts';
import type { ElectionMetrics } from './election-metrics.ts';
import type { ElectionOptions } from './election.ts';
import { holderOf, LeaseRecord, recordText, type Claim } from './lease-record.ts';
import { momentOf, type Moment } from './tenure.ts';

export type Attempt =
  | { readonly outcome: 'held'; readonly sent: Moment; readonly lease: Stored<Lease> }
  | { readonly outcome: 'other' }
  | { readonly outcome: 'failed' };

/** One who stands for a lease: what it has seen of it, and single attempts to get or keep it. */
export class Candidate {
  readonly #options: ElectionOptions;
  readonly #claim: Claim;
  readonly #record: LeaseRecord;
  readonly #metrics: ElectionMetrics | undefined;
  #lease: Stored<Lease> | undefined;
  #seenText = '';
  #seen: Moment | undefined;
  #announced = '';
  #mayWatch = true;

  constructor(options: ElectionOptions, claim: Claim, metrics: ElectionMetrics | undefined) {
    this.#options = options;
    this.#claim = claim;
    this.#record = new LeaseRecord(options.client, options.lease, options.clock);
    this.#metrics = metrics;
  }

  /** Never rejects: a failure is an outcome, tried again by anyone who has time left. */
  async attempt(request: RequestOptions): Promise<Attempt> {
    try {
      return (await this.#renewUnread(request)) ?? (await this.#readAndClaim(request));
    } catch (error) {
      if (!isConflict(error) && !isAlreadyExists(error) && request.signal?.aborted !== true)
        this.#options.log.write('warn', 'failed to read or write the lease', {
          lease: this.#options.lease.name,
          error: messageOf(error),
        });
      return { outcome: 'failed' };
    }
  }

  /**
   * Follows the lease that another holds for as long as its changes are told; resolves when there is something to look
   * at: it was given up or deleted, it has expired, or nothing was told for `silenceMs`. False when it cannot be
   * followed, and somebody has to look from time to time. Never rejects.
   */
  async follow(silenceMs: number, stop: AbortSignal): Promise<boolean> {
    const lease = this.#lease;
    if (!this.#mayWatch || !lease || !this.#seen || holderOf(lease) === '') return false;
    const { clock } = this.#options;
    const over = new AbortController();
    const end = (): void => over.abort();
    stop.addEventListener('abort', end, { once: true });
    let timer = clock.after(Math.min(silenceMs, this.#leftMs(lease)), end);
    try {
      for await (const { type, object } of await this.#record.watch(lease, {
        signal: over.signal,
        timeoutMs: silenceMs,
      })) {
        if (type === 'DELETED' || holderOf(object) === '' || holderOf(object) === this.#claim.identity)
          return true;
        this.#observe(object);
        timer.dispose();
        timer = clock.after(Math.min(silenceMs, this.#leftMs(object)), end);
      }
      return false;
    } catch (error) {
      // A server that lets us read and not watch will not change its mind.
      if (isForbidden(error)) this.#mayWatch = false;
      return over.signal.aborted && !stop.aborted;
    } finally {
      timer.dispose();
      stop.removeEventListener('abort', end);
    }
  }

  /** Reads again when a renewal that was given up has arrived after all. */
  async release(request: RequestOptions): Promise<void> {
    const isOurs = (lease: Stored<Lease> | undefined): lease is Stored<Lease> =>
      holderOf(lease) === this.#claim.identity;
    if (!isOurs(this.#lease)) return;
    try {
      await this.#record.release(this.#lease, request);
    } catch (error) {
      if (!isConflict(error)) throw error;
      const fresh = await this.#record.read(request);
      if (isOurs(fresh)) await this.#record.release(fresh, request);
    }
  }

  /** The holder's usual way: the lease that it wrote last is still there. */
  async #renewUnread(request: RequestOptions): Promise<Attempt | undefined> {
    const lease = this.#lease;
    if (!lease || holderOf(lease) !== this.#claim.identity) return undefined;
    const sent = momentOf(this.#options.clock);
    try {
      return this.#held(sent, await this.#record.claim(lease, this.#claim, request));
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
      this.#metrics?.slowPath.inc();
      return undefined;
    }
  }

  /** Most looks of who waits find the holder at work. Only when there may be something to win is it read for certain. */
  async #isHeldByAnother(request: RequestOptions): Promise<boolean> {
    if (this.#lease === undefined || holderOf(this.#lease) === this.#claim.identity) return false;
    const lease = await this.#record.glance(request);
    if (!lease) return false;
    const holder = holderOf(lease);
    if (holder === '' || holder === this.#claim.identity) return false;
    this.#observe(lease);
    return !this.#isExpired(lease);
  }

  async #readAndClaim(request: RequestOptions): Promise<Attempt> {
    if (await this.#isHeldByAnother(request)) return { outcome: 'other' };
    const lease = await this.#record.read(request);
    const beforeSend = momentOf(this.#options.clock);
    if (!lease) return this.#held(beforeSend, await this.#record.create(this.#claim, request));
    this.#observe(lease);
    const holder = holderOf(lease);
    if (holder !== '' && holder !== this.#claim.identity && !this.#isExpired(lease))
      return { outcome: 'other' };
    const sent = momentOf(this.#options.clock);
    return this.#held(sent, await this.#record.claim(lease, this.#claim, request));
  }

  #held(sent: Moment, lease: Stored<Lease>): Attempt {
    this.#observe(lease);
    return { outcome: 'held', sent, lease };
  }

  /** Others' clocks are not trusted: a lease lives from when its last change was seen here. */
  #observe(lease: Stored<Lease>): void {
    this.#lease = lease;
    const text = recordText(lease);
    if (text !== this.#seenText) {
      this.#seenText = text;
      this.#seen = momentOf(this.#options.clock);
    }
    const holder = holderOf(lease);
    if (holder === this.#announced) return;
    this.#announced = holder;
    if (holder !== '') this.#options.onNewLeader?.(holder);
  }

  /** By the monotonic clock alone: waking from sleep is no reason to take over immediately. */
  #isExpired(lease: Lease): boolean {
    return this.#leftMs(lease) <= 0;
  }

  #leftMs(lease: Lease): number {
    const durationSeconds = lease.spec?.leaseDurationSeconds ?? this.#claim.leaseDurationSeconds;
    const elapsedMs = this.#options.clock.monotonicMs() - (this.#seen?.monotonicMs ?? 0);
    return durationSeconds * 1000 - elapsedMs;
  }
}
