import * as proto from '../../../core/etcd/proto/index.ts';
import type { RequestContext } from '../../../core/etcd/rpc/member-api.ts';
import { WaitingLine } from '../../../core/etcd/rpc/concurrency/waiting-line.ts';
import { CLOCK_RATE_MAX, type World } from '../world/world.ts';
import { CONTEXT } from './requests.ts';

const NAME = Buffer.from('lock');
const TTL_SECONDS = 2;
const SECOND_MS = 1000;
const LIMIT_MS = 1500;
const RENEW_MS = 300;

interface Hold {
  readonly client: string;
  readonly key: Uint8Array;
}

/** Who holds the lock by the knowledge of the clients: never two of them. */
export class LockTable {
  readonly #world: World;
  readonly #holds = new Map<LockClient, Hold>();
  takenCount = 0;

  constructor(world: World) {
    this.#world = world;
  }

  take(client: LockClient, hold: Hold): void {
    for (const [other, { client: name }] of this.#holds)
      if (other.isAlive) this.#world.trace.fail('lock', `${hold.client} gets the lock that ${name} holds`);
    this.#holds.set(client, hold);
    this.takenCount += 1;
    this.#world.trace.note(`${hold.client} has the lock`);
  }

  give(client: LockClient): void {
    this.#holds.delete(client);
  }
}

/** A client with a lease of its own that waits for the lock, holds it for a while, and lets it go or loses it. */
export class LockClient {
  readonly #world: World;
  readonly #table: LockTable;
  readonly #name: string;
  #lease = 0n;
  /** In true time: until then no member may end its lease. */
  #aliveUntilMs = 0;
  #isRenewing = false;
  #count = 0;
  #attempts = 0;

  constructor(world: World, table: LockTable, name: string) {
    this.#world = world;
    this.#table = table;
    this.#name = name;
  }

  get isAlive(): boolean {
    return this.#world.timeline.nowMs < this.#aliveUntilMs;
  }

  async run(): Promise<void> {
    const world = this.#world;
    while (world.isBusy) {
      if (this.isAlive || (await this.#newLease())) await this.#lockOnce();
      await world.timeline.sleep(world.between(10, 200));
    }
  }

  async #newLease(): Promise<boolean> {
    const world = this.#world;
    this.#count += 1;
    const id = BigInt(1 + world.random.below(2 ** 31)) * 1000n + BigInt(this.#count);
    const calledMs = world.timeline.nowMs;
    const request = proto.LeaseGrantRequest.create({ ID: id, TTL: TTL_SECONDS });
    const result = await world.call(world.pickMember(), LIMIT_MS, (api) => api.leaseGrant(request, CONTEXT));
    if (result.kind !== 'ok') return false;
    this.#lease = id;
    this.#extend(calledMs, TTL_SECONDS);
    if (!this.#isRenewing) void this.#renew();
    return true;
  }

  async #renew(): Promise<void> {
    const world = this.#world;
    this.#isRenewing = true;
    while (world.isBusy && this.isAlive) {
      await world.timeline.sleep(RENEW_MS);
      const lease = this.#lease;
      const calledMs = world.timeline.nowMs;
      const result = await world.call(world.pickMember(), LIMIT_MS, (api) => api.leaseRenew(lease, CONTEXT));
      if (result.kind === 'ok' && lease === this.#lease) this.#extend(calledMs, result.value);
    }
    this.#isRenewing = false;
  }

  /** The leader counts from when it heard of it, and its clock may run fast. */
  #extend(calledMs: number, ttlSeconds: number): void {
    this.#aliveUntilMs = Math.max(this.#aliveUntilMs, calledMs + (ttlSeconds * SECOND_MS) / CLOCK_RATE_MAX);
  }

  /** A client that stops waiting hangs up, so that its place in line is given up. */
  async #lockOnce(): Promise<void> {
    const world = this.#world;
    const abort = new AbortController();
    const context: RequestContext = { ...CONTEXT, signal: abort.signal };
    const lease = this.#lease;
    // No value is ever written twice: see `Truth`.
    this.#attempts += 1;
    const value = Buffer.from(`${this.#name}.${this.#attempts}`);
    const patienceMs = world.between(50, LIMIT_MS);
    const result = await world.call(world.pickMember(), patienceMs, async (api) => {
      const line = new WaitingLine(api, context, NAME);
      const place = await line.takePlace(lease, value);
      await line.wait(place);
      return place.key;
    });
    if (result.kind === 'lost') abort.abort();
    if (result.kind !== 'ok' || !this.isAlive || lease !== this.#lease) {
      // Its key may be there still; without its lease it is gone soon.
      this.#aliveUntilMs = 0;
      return;
    }
    this.#table.take(this, { client: this.#name, key: result.value });
    await world.timeline.sleep(world.between(0, 400));
    this.#table.give(this);
    const unlocked = await world.call(world.pickMember(), LIMIT_MS, (api) =>
      new WaitingLine(api, CONTEXT, NAME).leave(result.value),
    );
    if (unlocked.kind !== 'ok') this.#aliveUntilMs = 0;
  }
}
