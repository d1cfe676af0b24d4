import * as proto from '../../../core/etcd/proto/index.ts';
import type { Revision } from '../world/truth.ts';
import { CLOCK_RATE_MAX, ELECTION_MS, type World } from '../world/world.ts';
import { CONTEXT, putRequest } from './requests.ts';

const TTL_SECONDS_MAX = 3;
const LIMIT_MS = 1500;
const SECOND_MS = 1000;
const PREFIX = 'lease/';

interface KnownLease {
  readonly id: bigint;
  readonly key: string;
  /** In true time; a lease that ends before this ends early. */
  aliveUntilMs: number;
  isRevoked: boolean;
}

/** One client that holds leases: is granted one, hangs a key on it, keeps it alive for a while, lets it go. */
export class LeaseClient {
  readonly #world: World;
  readonly #name: string;
  readonly #leases = new Map<string, KnownLease>();
  #count = 0;
  keptCount = 0;
  expiredCount = 0;
  isIdle = false;

  constructor(world: World, name: string) {
    this.#world = world;
    this.#name = name;
    world.truth.onRevision((revision, made) => this.#changed(revision, made));
  }

  async run(): Promise<void> {
    const world = this.#world;
    while (world.isBusy) {
      const lease = await this.#grant();
      if (lease !== undefined) await this.#hold(lease);
      await world.timeline.sleep(world.between(20, 300));
    }
    this.isIdle = true;
  }

  async #grant(): Promise<{ lease: KnownLease; ttlSeconds: number } | undefined> {
    const world = this.#world;
    this.#count += 1;
    const id = BigInt(1 + world.random.below(2 ** 31)) * 1000n + BigInt(this.#count);
    const ttlSeconds = 1 + world.random.below(TTL_SECONDS_MAX);
    const calledMs = world.timeline.nowMs;
    const request = proto.LeaseGrantRequest.decode(
      proto.LeaseGrantRequest.encode({ ID: id, TTL: ttlSeconds }),
    );
    const result = await world.call(world.pickMember(), LIMIT_MS, (api) => api.leaseGrant(request, CONTEXT));
    if (result.kind !== 'ok') return undefined;
    const lease = { id, key: `${PREFIX}${this.#name}.${this.#count}`, aliveUntilMs: 0, isRevoked: false };
    this.#leases.set(lease.key, lease);
    this.#extend(lease, calledMs, ttlSeconds);
    await world.call(world.pickMember(), LIMIT_MS, (api) =>
      api.put(putRequest(lease.key, 'held', id), CONTEXT),
    );
    return { lease, ttlSeconds };
  }

  async #hold({ lease, ttlSeconds }: { lease: KnownLease; ttlSeconds: number }): Promise<void> {
    const world = this.#world;
    for (let renewals = world.random.below(8); renewals > 0 && world.isBusy; renewals -= 1) {
      await world.timeline.sleep((ttlSeconds * SECOND_MS) / 3);
      const calledMs = world.timeline.nowMs;
      const result = await world.call(world.pickMember(), LIMIT_MS, (api) =>
        api.leaseRenew(lease.id, CONTEXT),
      );
      if (result.kind === 'ok') {
        world.trace.note(`${this.#name} kept ${lease.key} for ${result.value} s`);
        this.#extend(lease, calledMs, result.value);
        this.keptCount += 1;
      } else if (result.kind === 'failed' && result.reason === 'LeaseNotFound') {
        if (world.timeline.nowMs < lease.aliveUntilMs)
          world.trace.fail('lease', `${lease.key} is not found ${this.#left(lease)} before its end`);
        return;
      }
    }
    if (world.chance(0.2)) {
      lease.isRevoked = true;
      const request = proto.LeaseRevokeRequest.decode(proto.LeaseRevokeRequest.encode({ ID: lease.id }));
      await world.call(world.pickMember(), LIMIT_MS, (api) => api.leaseRevoke(request, CONTEXT));
    }
  }

  /** The time counts from when the leader heard of it, which is not before the call; clocks may run fast. */
  #extend(lease: KnownLease, calledMs: number, ttlSeconds: number): void {
    lease.aliveUntilMs = Math.max(lease.aliveUntilMs, calledMs + (ttlSeconds * SECOND_MS) / CLOCK_RATE_MAX);
  }

  #left(lease: KnownLease): string {
    return `${Math.round(lease.aliveUntilMs - this.#world.timeline.nowMs)} ms`;
  }

  #changed(revision: number, { changes }: Revision): void {
    for (const { type, key } of changes) {
      const lease = this.#leases.get(key);
      if (lease === undefined || type !== 'delete') continue;
      this.expiredCount += 1;
      if (!lease.isRevoked && this.#world.timeline.nowMs < lease.aliveUntilMs)
        this.#world.trace.fail(
          'lease',
          `${key} is deleted at ${revision}, ${this.#left(lease)} before its end`,
        );
    }
  }
}

/** After this long without renewal no lease is left: its time, that of an election, and the leader's pauses. */
export const LEASES_GONE_MS = TTL_SECONDS_MAX * SECOND_MS * CLOCK_RATE_MAX + 4 * ELECTION_MS + 5 * SECOND_MS;
