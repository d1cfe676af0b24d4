import type { History } from '../checks/history.ts';
import type { RegisterOp } from '../checks/linearizability.ts';
import type { CallResult, World } from '../world/world.ts';
import type { Machine } from '../world/machine.ts';
import { CONTEXT, deleteRequest, putRequest, rangeRequest, swapRequest, valueOf } from './requests.ts';

export const KEYS = ['k0', 'k1', 'k2', 'k3'] as const;

const LIMIT_MS_MIN = 300;
const LIMIT_MS_MAX = 1500;
const THINK_MS_MAX = 80;
const PAST_RATIO = 0.06;
const PAST_REVISIONS_MAX = 40;
const PAUSE_AFTER_REFUSAL_MS = 40;

interface Told {
  readonly op: RegisterOp;
  readonly revision: number;
}

/** One client: reads, writes, swaps and deletes single keys through any member, one call after the other. */
export class KeyClient {
  readonly #world: World;
  readonly #history: History;
  readonly #name: string;
  /** What it last saw in each key: swaps expect that. */
  readonly #seen = new Map<string, string | undefined>();
  #writeCount = 0;
  /** Answered writes: what shows that the cluster makes progress. */
  writtenCount = 0;
  isIdle = false;

  constructor(world: World, history: History, name: string) {
    this.#world = world;
    this.#history = history;
    this.#name = name;
  }

  async run(): Promise<void> {
    const world = this.#world;
    while (world.isBusy) {
      const machine = world.pickMember();
      const isPast = world.chance(PAST_RATIO);
      const isRefused = await (isPast ? this.#readPast(machine) : this.#call(machine, world.pick(KEYS)));
      await world.timeline.sleep(isRefused ? PAUSE_AFTER_REFUSAL_MS : world.between(1, THINK_MS_MAX));
    }
    this.isIdle = true;
  }

  /** History is the same everywhere and for ever, until it is compacted. */
  async #readPast(machine: Machine): Promise<boolean> {
    const world = this.#world;
    const { truth, trace } = world;
    const key = world.pick(KEYS);
    const revision = Math.max(1, truth.lastRevision - world.random.below(PAST_REVISIONS_MAX));
    const result = await world.call(machine, LIMIT_MS_MAX, (api) =>
      api.range(rangeRequest(key, { revision }), CONTEXT),
    );
    if (result.kind === 'refused') return true;
    if (result.kind !== 'ok') return false;
    const seen = valueOf(result.value);
    const was = truth.valueAt(key, revision);
    if (seen !== was)
      trace.fail('history', `${key} at ${revision} is "${seen}" on ${machine.name} and was "${was}"`);
    return false;
  }

  async #call(machine: Machine, key: string): Promise<boolean> {
    const world = this.#world;
    const calledAt = world.timeline.stamp();
    const limitMs = world.between(LIMIT_MS_MIN, LIMIT_MS_MAX);
    const { lost, result } = await this.#perform(machine, key, limitMs);
    if (result.kind === 'refused') return true;
    if (result.kind === 'ok') {
      const { op, revision } = result.value;
      this.#history.answered({ key, op, calledAt, answeredAt: world.timeline.stamp(), revision });
      this.#remember(key, op);
      world.trace.note(`${this.#name} ${machine.name} ${key} ${JSON.stringify(op)} @${revision}`);
      return false;
    }
    this.#history.lost(key, lost, calledAt);
    const why = result.kind === 'failed' ? result.message : 'no answer';
    world.trace.note(`${this.#name} ${machine.name} ${key} ${JSON.stringify(lost)} ? ${why}`);
    return false;
  }

  #remember(key: string, op: RegisterOp): void {
    if (op.kind === 'get') this.#seen.set(key, op.seen);
    else if (op.kind === 'delete') this.#seen.set(key, undefined);
    else if (op.kind === 'put' || op.swapped === true) this.#seen.set(key, op.value);
    if (op.kind !== 'get') this.writtenCount += 1;
  }

  async #perform(
    machine: Machine,
    key: string,
    limitMs: number,
  ): Promise<{ readonly lost: RegisterOp; readonly result: CallResult<Told> }> {
    const world = this.#world;
    const dice = world.random.next();
    if (dice < 0.4) {
      const lost: RegisterOp = { kind: 'get', seen: undefined };
      const result = await world.call(machine, limitMs, async (api): Promise<Told> => {
        const answer = await api.range(rangeRequest(key), CONTEXT);
        return { op: { kind: 'get', seen: valueOf(answer) }, revision: answer.header?.revision ?? 0 };
      });
      return { lost, result };
    }
    if (dice < 0.5) {
      const result = await world.call(machine, limitMs, async (api): Promise<Told> => {
        const answer = await api.deleteRange(deleteRequest(key), CONTEXT);
        const deleted = (answer.deleted ?? 0) > 0;
        return { op: { kind: 'delete', deleted }, revision: answer.header?.revision ?? 0 };
      });
      return { lost: { kind: 'delete', deleted: undefined }, result };
    }
    this.#writeCount += 1;
    const value = `${this.#name}.${this.#writeCount}`;
    if (dice < 0.75) {
      const op: RegisterOp = { kind: 'put', value };
      const result = await world.call(machine, limitMs, async (api): Promise<Told> => {
        const answer = await api.put(putRequest(key, value), CONTEXT);
        return { op, revision: answer.header?.revision ?? 0 };
      });
      return { lost: op, result };
    }
    const expected = this.#seen.get(key);
    const result = await world.call(machine, limitMs, async (api): Promise<Told> => {
      const answer = await api.txn(swapRequest(key, expected, value), CONTEXT);
      const swapped = answer.succeeded ?? false;
      return { op: { kind: 'swap', expected, value, swapped }, revision: answer.header?.revision ?? 0 };
    });
    return { lost: { kind: 'swap', expected, value, swapped: undefined }, result };
  }
}
