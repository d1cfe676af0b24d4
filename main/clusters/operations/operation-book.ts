import type { Clock } from '../../../core/base/clock.ts';
import { toDisposable, type Disposable } from '../../../core/base/disposable.ts';
import {
  type ClusterAction,
  ContractError,
  type Operation,
  OPERATIONS_MAX,
  type Said,
  SaidError,
  saidOf,
  say,
} from '../../../core/contract/index.ts';
import type { StepReport } from '../../../core/cluster/operation/step-report.ts';
import { StepList } from './step-list.ts';

/** Steps report many times a second; no one reads that fast. */
const TELL_PAUSE_MS = 50;
/** Anyone who waits longer than this looks elsewhere, and is told of the end. */
const NOTICE_AFTER_MS = 5_000;

/** A drain touches one node alone, and a fault is broken or healed immediately, in the middle of whatever happens. */
const BESIDE_OTHERS: readonly ClusterAction['kind'][] = [
  'node.drain',
  'fault.add',
  'fault.isolate',
  'fault.heal',
];

export interface OperationDraft {
  readonly action: ClusterAction;
  readonly command: string;
  readonly canPause: boolean;
  run(report: StepReport, signal: AbortSignal): Promise<Said>;
}

export interface OperationBookOptions {
  readonly clock: Clock;
  /** Ended, well or not, after so long that no one may be looking any more. */
  readonly onLongEnd: (operation: Operation) => void;
}

class Entry {
  readonly id: string;
  readonly draft: OperationDraft;
  readonly steps: StepList;
  readonly abort = new AbortController();
  readonly startedAtMs: number;
  state: Operation['state'] = 'running';
  endedAtMs: number | null = null;
  message: Said | null = null;
  /** Set while a pause is asked for; called to continue. */
  goOn: (() => void) | undefined;
  held: Promise<void> | undefined;

  constructor(id: string, draft: OperationDraft, clock: Clock) {
    this.id = id;
    this.draft = draft;
    this.startedAtMs = clock.nowMs();
    this.steps = new StepList(clock);
  }

  get isOver(): boolean {
    return this.state === 'done' || this.state === 'failed';
  }

  view(): Operation {
    const { id, draft, state, startedAtMs, endedAtMs, message, steps } = this;
    const { action, command, canPause } = draft;
    return {
      id,
      action,
      command,
      state,
      startedAtMs,
      endedAtMs,
      message,
      steps: steps.view(),
      canPause: canPause && !this.isOver,
    };
  }
}

/** What was done to one cluster and what is being done, newest first. One operation at a time; drains and faults go beside it. */
export class OperationBook implements Disposable {
  readonly #options: OperationBookOptions;
  readonly #listeners = new Set<(operations: Operation[]) => void>();
  #entries: Entry[] = [];
  #lastId = 0;
  #telling: Disposable | undefined;

  constructor(options: OperationBookOptions) {
    this.#options = options;
  }

  list(): Operation[] {
    return this.#entries.map((entry) => entry.view());
  }

  /** The one that keeps others from beginning. */
  get running(): Operation | undefined {
    return this.#entries
      .find((entry) => !entry.isOver && !BESIDE_OTHERS.includes(entry.draft.action.kind))
      ?.view();
  }

  /** Nothing runs and no one listens. */
  get isResting(): boolean {
    return this.#listeners.size === 0 && this.#entries.every(({ isOver }) => isOver);
  }

  onChange(listener: (operations: Operation[]) => void): Disposable {
    this.#listeners.add(listener);
    return toDisposable(() => this.#listeners.delete(listener));
  }

  /** Begins it and returns its id; its steps tell the rest. */
  begin(draft: OperationDraft): string {
    this.#assertRoom(draft.action);
    const { clock } = this.#options;
    const entry = new Entry(`${clock.nowMs()}-${(this.#lastId += 1)}`, draft, clock);
    const over = this.#entries.filter(({ isOver }) => isOver);
    const oldest = this.#entries.length >= OPERATIONS_MAX ? over.at(-1) : undefined;
    this.#entries = [entry, ...this.#entries.filter((known) => known !== oldest)];
    this.#changed();
    void this.#run(entry);
    return entry.id;
  }

  /** Takes effect at the next checkpoint. */
  pause(id: string, isPaused: boolean): void {
    const entry = this.#entries.find((known) => known.id === id);
    if (!entry) throw new ContractError('NotFound', say('failure.noOperation', { id }));
    if (entry.isOver) throw new ContractError('Conflict', say('failure.operationOver'));
    if (!entry.draft.canPause) throw new ContractError('BadRequest', say('failure.cannotPause'));
    if (isPaused === (entry.held !== undefined)) return;
    if (isPaused) {
      entry.held = new Promise((resolve) => (entry.goOn = resolve));
      entry.message = say('operation.willPause');
    } else {
      entry.goOn?.();
      entry.held = undefined;
      entry.message = null;
      entry.state = 'running';
    }
    this.#changed();
  }

  /** Tells every operation to end where it can. */
  abort(why: Said): void {
    for (const entry of this.#entries) if (!entry.isOver) entry.abort.abort(new SaidError('Cancelled', why));
  }

  dispose(): void {
    this.abort(say('failure.shuttingDown'));
    this.#telling?.dispose();
    this.#listeners.clear();
  }

  #assertRoom({ kind }: ClusterAction): void {
    if (this.#entries.length >= OPERATIONS_MAX && this.#entries.every(({ isOver }) => !isOver))
      throw new ContractError('Unavailable', say('failure.operationsMax', { max: OPERATIONS_MAX }));
    const { running } = this;
    if (BESIDE_OTHERS.includes(kind) || !running) return;
    const code = running.state === 'paused' ? 'failure.paused' : 'failure.busy';
    throw new ContractError('Conflict', say(code, { command: running.command }));
  }

  async #run(entry: Entry): Promise<void> {
    const { clock, onLongEnd } = this.#options;
    const beganMs = clock.monotonicMs();
    try {
      const outcome = await entry.draft.run(this.#reportOf(entry), entry.abort.signal);
      entry.steps.finish();
      entry.state = 'done';
      entry.message = outcome;
    } catch (error) {
      entry.message = saidOf(error);
      entry.steps.fail(entry.message);
      entry.state = 'failed';
    }
    entry.endedAtMs = clock.nowMs();
    entry.held = undefined;
    this.#changed();
    if (clock.monotonicMs() - beganMs > NOTICE_AFTER_MS && !entry.abort.signal.aborted)
      onLongEnd(entry.view());
  }

  #reportOf(entry: Entry): StepReport {
    const told =
      <A extends unknown[]>(apply: (...args: A) => void) =>
      (...args: A): void => {
        apply(...args);
        this.#changed();
      };
    const { steps } = entry;
    return {
      plan: told((planned) => steps.plan(planned)),
      begin: told((id) => steps.begin(id)),
      detail: told((id, text) => steps.detail(id, text)),
      end: told((id, detail) => steps.end(id, detail)),
      checkpoint: () => this.#checkpoint(entry),
    };
  }

  async #checkpoint(entry: Entry): Promise<void> {
    const { signal } = entry.abort;
    signal.throwIfAborted();
    const { held } = entry;
    if (!held) return;
    entry.state = 'paused';
    entry.message = say('operation.paused');
    this.#changed();
    await new Promise<void>((resolve, reject) => {
      const cutOff = (): void => reject(signal.reason as Error);
      signal.addEventListener('abort', cutOff, { once: true });
      void held.then(() => {
        signal.removeEventListener('abort', cutOff);
        resolve();
      });
    });
    // Paused again before this continued.
    return this.#checkpoint(entry);
  }

  #changed(): void {
    if (this.#listeners.size === 0 || this.#telling) return;
    this.#telling = this.#options.clock.after(TELL_PAUSE_MS, () => {
      this.#telling = undefined;
      const operations = this.list();
      for (const listener of [...this.#listeners]) listener(operations);
    });
  }
}
