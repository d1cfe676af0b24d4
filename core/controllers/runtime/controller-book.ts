import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { HandlerResult, InformerHealth, Queue } from '../../client/index.ts';
import { groupResourceText } from '../../api/meta/group-version.ts';

/** Of one controller; all of them together stay under a megabyte. */
export const RECENT_MAX = 32;
export const FAILING_MAX = 64;
const ERROR_CHARACTERS_MAX = 1024;

/** One turn of a controller with one object. */
export interface Reconciliation {
  readonly queue: string;
  /** `namespace/name`, or whatever the controller queues. */
  readonly key: string;
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly outcome: 'done' | 'requeued' | 'failed';
  readonly error: string;
  /** Failures in a row before this one. */
  readonly retries: number;
}

export interface ControllerView {
  readonly name: string;
  /** `standby`: another process leads. `syncing`: its caches are filled. `restarting`: it failed and starts over. */
  readonly phase: 'standby' | 'syncing' | 'running' | 'restarting';
  readonly error: string;
  readonly queues: readonly { readonly name: string; readonly depth: number }[];
  readonly working: readonly { readonly queue: string; readonly key: string; readonly sinceMs: number }[];
  /** Newest first. */
  readonly recent: readonly Reconciliation[];
  /** The last attempt failed, and the next one is due. */
  readonly failing: readonly Reconciliation[];
}

/** What one controller did of late. */
export class ControllerRecord {
  readonly name: string;
  phase: ControllerView['phase'] = 'standby';
  error = '';
  readonly #clock: Clock;
  readonly #queues = new Map<string, Queue>();
  readonly #working = new Map<
    string,
    { readonly queue: string; readonly key: string; readonly sinceMs: number }
  >();
  readonly #recent: Reconciliation[] = [];
  readonly #failing = new Map<string, Reconciliation>();
  #next = 0;

  constructor(name: string, clock: Clock) {
    this.name = name;
    this.#clock = clock;
  }

  /** Handles one key of a queue and writes down how it went. */
  async observe(queue: Queue, key: string, handle: () => Promise<HandlerResult>): Promise<HandlerResult> {
    this.#queues.set(queue.name, queue);
    const id = `${queue.name}\n${key}`;
    const [startedAtMs, startedMs] = [this.#clock.nowMs(), this.#clock.monotonicMs()];
    this.#working.set(id, { queue: queue.name, key, sinceMs: startedAtMs });
    const turn = (outcome: Reconciliation['outcome'], error: string): Reconciliation => ({
      queue: queue.name,
      key,
      startedAtMs,
      durationMs: this.#clock.monotonicMs() - startedMs,
      outcome,
      error: error.slice(0, ERROR_CHARACTERS_MAX),
      retries: queue.retriesOf(key),
    });
    try {
      const result = await handle();
      this.#note(turn(result ? 'requeued' : 'done', ''));
      this.#failing.delete(id);
      return result;
    } catch (error) {
      const failed = turn('failed', messageOf(error));
      this.#note(failed);
      this.#failing.delete(id);
      if (this.#failing.size < FAILING_MAX) this.#failing.set(id, failed);
      throw error;
    } finally {
      this.#working.delete(id);
    }
  }

  /** Nothing of an earlier term: another process has worked on it since. */
  clear(): void {
    this.#queues.clear();
    this.#working.clear();
    this.#failing.clear();
    this.#recent.length = 0;
    this.#next = 0;
    this.error = '';
  }

  view(): ControllerView {
    return {
      name: this.name,
      phase: this.phase,
      error: this.error,
      queues: [...this.#queues.values()].map(({ name, size }) => ({ name, depth: size })),
      working: [...this.#working.values()],
      recent: [...this.#recent].sort((a, b) => b.startedAtMs - a.startedAtMs),
      failing: [...this.#failing.values()].reverse(),
    };
  }

  #note(turn: Reconciliation): void {
    this.#recent[this.#next] = turn;
    this.#next = (this.#next + 1) % RECENT_MAX;
  }
}

export interface ControllersView {
  readonly isLeading: boolean;
  /** Resources whose first list has not come; nothing runs before all have. */
  readonly unsynced: readonly { readonly resource: string; readonly error: string }[];
  readonly controllers: readonly ControllerView[];
}

/** What `/debug/controllers` answers: every controller of a manager, with what it waits for and what failed. */
export class ControllerBook {
  readonly #records: readonly ControllerRecord[];
  #informers: (() => readonly InformerHealth[]) | undefined;

  constructor(names: readonly string[], clock: Clock) {
    this.#records = names.map((name) => new ControllerRecord(name, clock));
  }

  recordOf(name: string): ControllerRecord | undefined {
    return this.#records.find((record) => record.name === name);
  }

  /** The lease is held, and caches are being filled. */
  begin(informers: () => readonly InformerHealth[]): void {
    this.#informers = informers;
    for (const record of this.#records) {
      record.clear();
      record.phase = 'syncing';
    }
  }

  run(): void {
    for (const record of this.#records) record.phase = 'running';
  }

  end(): void {
    this.#informers = undefined;
    for (const record of this.#records) record.phase = 'standby';
  }

  view(): ControllersView {
    const unsynced = (this.#informers?.() ?? [])
      .filter(({ synced }) => !synced)
      .map(({ kind, lastError }) => ({
        resource: groupResourceText({ group: kind.group, resource: kind.plural }),
        error: lastError ?? '',
      }));
    return {
      isLeading: this.#informers !== undefined,
      unsynced,
      controllers: this.#records.map((record) => record.view()),
    };
  }
}
