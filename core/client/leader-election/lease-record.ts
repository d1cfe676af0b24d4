import type { Clock } from '../../base/clock.ts';
import { formatMicroTime } from '../../api/meta/time.ts';
import type { Client, RequestOptions, ResourceClient, WatchStream } from '../client.ts';
import type { Stored } from '../kind.ts';
import { LEASE, type Lease } from '../kinds.ts';

export interface Claim {
  readonly identity: string;
  readonly leaseDurationSeconds: number;
}

export const holderOf = (lease: Lease | undefined): string => lease?.spec?.holderIdentity ?? '';
export const transitionsOf = (lease: Lease | undefined): number => lease?.spec?.leaseTransitions ?? 0;

/** What differs when somebody has written the lease; labels and the like do not count. */
export const recordText = ({ spec }: Lease): string =>
  JSON.stringify([
    spec?.holderIdentity,
    spec?.leaseDurationSeconds,
    spec?.acquireTime,
    spec?.renewTime,
    spec?.leaseTransitions,
  ]);

/** The lease on the server. Writes conflict when it is not the one that was read. */
export class LeaseRecord {
  readonly #leases: ResourceClient<Lease>;
  readonly #name: string;
  readonly #clock: Clock;

  constructor(client: Client, lease: { readonly namespace: string; readonly name: string }, clock: Clock) {
    this.#leases = client.resource(LEASE, lease.namespace);
    this.#name = lease.name;
    this.#clock = clock;
  }

  read(options: RequestOptions): Promise<Stored<Lease> | undefined> {
    return this.#leases.find(this.#name, options);
  }

  /** From what the server has at hand, which may be of a moment ago: it costs etcd nothing. */
  glance(options: RequestOptions): Promise<Stored<Lease> | undefined> {
    return this.#leases.find(this.#name, { ...options, resourceVersion: '0' });
  }

  /** What happens to it after it was read. */
  watch(
    read: Stored<Lease>,
    { signal, timeoutMs }: Required<Pick<RequestOptions, 'signal' | 'timeoutMs'>>,
  ): Promise<WatchStream<Lease>> {
    return this.#leases.watch({
      fieldSelector: `metadata.name=${this.#name}`,
      resourceVersion: read.metadata.resourceVersion,
      signal,
      timeoutMs,
    });
  }

  create(claim: Claim, options: RequestOptions): Promise<Stored<Lease>> {
    const now = formatMicroTime(this.#clock.nowMs());
    const lease: Lease = {
      metadata: { name: this.#name },
      spec: {
        holderIdentity: claim.identity,
        leaseDurationSeconds: claim.leaseDurationSeconds,
        acquireTime: now,
        renewTime: now,
        leaseTransitions: 0,
      },
    };
    return this.#leases.create(lease, options);
  }

  /** Takes the lease over, or renews it when it is ours already. */
  claim(read: Stored<Lease>, claim: Claim, options: RequestOptions): Promise<Stored<Lease>> {
    const now = formatMicroTime(this.#clock.nowMs());
    const isOurs = holderOf(read) === claim.identity;
    const spec = {
      ...read.spec,
      holderIdentity: claim.identity,
      leaseDurationSeconds: claim.leaseDurationSeconds,
      renewTime: now,
      acquireTime: isOurs ? (read.spec?.acquireTime ?? now) : now,
      leaseTransitions: transitionsOf(read) + (isOurs ? 0 : 1),
    };
    return this.#leases.update({ ...read, spec }, options);
  }

  /** Gives it up: the next candidate need not wait. */
  async release(read: Stored<Lease>, options: RequestOptions): Promise<void> {
    const now = formatMicroTime(this.#clock.nowMs());
    const spec = {
      ...read.spec,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      renewTime: now,
      acquireTime: now,
    };
    await this.#leases.update({ ...read, spec }, options);
  }
}
