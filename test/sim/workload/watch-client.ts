import * as proto from '../../../core/etcd/proto/index.ts';
import type { WatchBatch } from '../../../core/etcd/rpc/member-api.ts';
import type { Change, Truth } from '../world/truth.ts';
import type { Process } from '../world/process.ts';
import type { World } from '../world/world.ts';

const LINK_MS_MIN = 100;
const LINK_MS_MAX = 4000;
const REFUSE_RATIO = 0.1;
const LOOK_MS = 25;

interface Seen extends Change {
  readonly revision: number;
}

/** A client that watches a range, is cut off, and continues elsewhere from the revision it has seen. */
export class WatchClient {
  readonly #world: World;
  readonly #name: string;
  readonly #range: { readonly start: string; readonly end: string };
  readonly #seen: Seen[] = [];
  /** Revisions that were compacted away before this client could see them: from (inclusive) to (exclusive). */
  readonly #gaps: { readonly from: number; readonly to: number }[] = [];
  #nextRevision = 1;
  #connection = 0;
  /** Over once the simulation wants no more reconnects. */
  isSteady = false;

  constructor(world: World, name: string, range: { readonly start: string; readonly end: string }) {
    this.#world = world;
    this.#name = name;
    this.#range = range;
  }

  /** Whether it has got everything of its range up to `revision`, as far as revisions tell. */
  hasSeen(truth: Truth, revision: number): boolean {
    for (let at = revision; at >= this.#nextRevision; at -= 1)
      if (truth.revisions.get(at)?.changes.some((change) => this.#isInRange(change))) return false;
    return true;
  }

  #isInRange({ key }: Change): boolean {
    return key >= this.#range.start && key < this.#range.end;
  }

  async run(): Promise<void> {
    const world = this.#world;
    const { timeline } = world;
    while (!world.isDone) {
      const { process, api } = world.pick(world.machines);
      if (process === undefined || api === undefined || process.isFrozen) {
        await timeline.sleep(LOOK_MS);
        continue;
      }
      const connection = (this.#connection += 1);
      const watcher = api.watches.watch({
        key: Buffer.from(this.#range.start),
        rangeEnd: Buffer.from(this.#range.end),
        startRevision: this.#nextRevision,
        filters: [],
        prevKv: false,
        sink: { deliver: (batch) => this.#deliver(batch, connection, process) },
      });
      await this.#stay(process, connection);
      if (process.isAlive) watcher.cancel();
      if (this.#connection === connection) this.#connection += 1;
    }
  }

  async #stay(process: Process, connection: number): Promise<void> {
    const world = this.#world;
    const untilMs = world.timeline.nowMs + world.between(LINK_MS_MIN, LINK_MS_MAX);
    while (process.isAlive && this.#connection === connection && !world.isDone) {
      if (world.timeline.nowMs >= untilMs && !this.isSteady) return;
      await world.timeline.sleep(LOOK_MS);
    }
  }

  /** The member's side: what it takes is on its way, in order, as long as the connection lasts. */
  #deliver(batch: WatchBatch, connection: number, process: Process): boolean {
    const world = this.#world;
    if (!process.isAlive || this.#connection !== connection) return true;
    if (world.chance(REFUSE_RATIO)) return false;
    const { compactRevision } = batch;
    const events = batch.events.map(({ type, kv }): Seen => {
      const { key, value, modRevision } = proto.KeyValue.decode(kv.encoded);
      const text = type === 'put' ? Buffer.from(value).toString('latin1') : '';
      return { type, key: Buffer.from(key).toString('latin1'), value: text, revision: modRevision };
    });
    world.timeline.after(1, () => {
      if (this.#connection === connection) this.#receive(events, compactRevision);
    });
    return true;
  }

  #receive(events: readonly Seen[], compactRevision: number): void {
    const { trace } = this.#world;
    if (compactRevision > 0) {
      if (compactRevision <= this.#nextRevision)
        trace.fail(
          'watch',
          `${this.#name} wants ${this.#nextRevision} and is told of compaction at ${compactRevision}`,
        );
      this.#gaps.push({ from: this.#nextRevision, to: compactRevision });
      this.#nextRevision = compactRevision;
      // The server has ended the watch: begin another.
      this.#connection += 1;
      return;
    }
    for (const event of events) {
      const newest = this.#seen.at(-1)?.revision ?? 0;
      if (event.revision < this.#nextRevision || event.revision < newest)
        trace.fail(
          'watch',
          `${this.#name} got revision ${event.revision} again or out of order: ${event.type} ${event.key}`,
        );
      this.#seen.push(event);
    }
    const last = events.at(-1);
    if (last !== undefined) this.#nextRevision = last.revision + 1;
  }

  /** Everything up to `revision`, once, in order, but for what was compacted away. */
  check(truth: Truth, revision: number): void {
    const { trace } = this.#world;
    const isGone = (at: number): boolean => this.#gaps.some(({ from, to }) => at >= from && at < to);
    const wanted: string[] = [];
    for (let at = 2; at <= revision; at += 1) {
      if (isGone(at)) continue;
      const made = truth.revisions.get(at);
      for (const change of made?.changes.filter((change) => this.#isInRange(change)) ?? [])
        wanted.push(`${at} ${change.type} ${change.key}=${change.value}`);
    }
    const got = this.#seen
      .filter((event) => event.revision <= revision)
      .map((event) => `${event.revision} ${event.type} ${event.key}=${event.value}`);
    const at = wanted.findIndex((line, i) => line !== got[i]);
    if (at >= 0 || got.length !== wanted.length)
      trace.fail(
        'watch',
        `${this.#name} got "${got[at < 0 ? wanted.length : at]}" where "${wanted[at]}" was due (${got.length} of ${wanted.length})`,
      );
  }
}
