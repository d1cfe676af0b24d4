import { assert } from '../../base/assert.ts';
import type { Random } from '../../base/random.ts';
import type { RaftBounds } from '../bounds.ts';
import { EMPTY_CONFIGURATION } from '../configuration.ts';
import { RaftCore } from '../core.ts';
import type { Message } from '../messages.ts';
import type { Persist, Turn } from '../turn.ts';
import type { Configuration, HardState, LogEntry, MemberId, SnapshotMark } from '../types.ts';

/** What survives a crash: the log and, beside it, a state machine that knows how far it has applied. */
export interface TestDisk {
  hardState: HardState;
  mark: { index: number; term: number };
  entries: LogEntry[];
  applied: LogEntry[];
  appliedIndex: number;
  configuration: Configuration;
}

export const emptyDisk = (): TestDisk => ({
  hardState: { term: 0, vote: 0, commit: 0 },
  mark: { index: 0, term: 0 },
  entries: [],
  applied: [],
  appliedIndex: 0,
  configuration: EMPTY_CONFIGURATION,
});

/** A snapshot message with the state that it speaks of. */
export interface Packet {
  readonly message: Message;
  readonly state?: readonly LogEntry[];
}

export interface TestMemberOptions {
  readonly id: MemberId;
  readonly random: Random;
  readonly disk: TestDisk;
  readonly electionTicks?: number;
  readonly heartbeatTicks?: number;
  readonly bounds?: Partial<RaftBounds>;
  readonly send: (packet: Packet) => void;
  readonly onTurn?: (turn: Turn) => void;
  readonly onApply?: (entry: LogEntry) => void;
  readonly onApplied?: (entries: readonly LogEntry[]) => void;
}

/** Owns a core as README.md asks its owner to, over a disk in memory that writes when told to. */
export class TestMember {
  readonly id: MemberId;
  readonly disk: TestDisk;
  readonly core: RaftCore;
  /** While held, nothing is written and nothing that depends on it leaves. */
  diskHeld = false;
  /** While held, committed entries pile up. */
  applyHeld = false;
  writing: Persist | undefined;
  readonly #options: TestMemberOptions;
  #arriving: { readonly mark: SnapshotMark; readonly state: readonly LogEntry[] }[] = [];
  #toApply: LogEntry[] = [];

  constructor(options: TestMemberOptions) {
    this.#options = options;
    this.id = options.id;
    this.disk = options.disk;
    this.core = new RaftCore({
      id: options.id,
      random: options.random,
      electionTicks: options.electionTicks ?? 10,
      heartbeatTicks: options.heartbeatTicks ?? 1,
      hardState: options.disk.hardState,
      configuration: options.disk.configuration,
      log: { mark: options.disk.mark, entries: options.disk.entries },
      applied: options.disk.appliedIndex,
      ...(options.bounds && { bounds: options.bounds }),
    });
  }

  receive({ message, state }: Packet): void {
    if (message.kind === 'snapshot') {
      assert(state !== undefined, 'a snapshot travels with its state');
      this.#arriving.push({ mark: message.mark, state });
    }
    this.core.step(message);
  }

  /** Does all the work that is owed and can be done. */
  pump(): void {
    for (;;) {
      const turn = this.core.turn();
      if (turn === undefined) return;
      this.#options.onTurn?.(turn);
      for (const message of turn.send) this.#options.send({ message });
      if (turn.persist !== undefined) this.writing = turn.persist;
      if (!this.diskHeld) this.finishWrite();
      this.#toApply.push(...turn.apply);
      if (!this.applyHeld) this.applyAll();
      for (const to of turn.snapshotsWanted) this.#sendSnapshot(to);
    }
  }

  #sendSnapshot(to: MemberId): void {
    const mark = this.core.mark();
    const message = this.core.snapshotMessage(to, mark);
    if (message !== undefined) this.#options.send({ message, state: this.disk.applied.slice() });
  }

  /** The write reaches the disk; whether the core hears of it before a crash is another matter. */
  write(): Persist | undefined {
    const persist = this.writing;
    if (persist === undefined) return undefined;
    const { disk } = this;
    if (persist.snapshot !== undefined) this.#install(persist.snapshot);
    const first = persist.entries[0];
    if (first !== undefined) {
      disk.entries = [...disk.entries.filter((entry) => entry.index < first.index), ...persist.entries];
    }
    if (persist.hardState !== undefined) disk.hardState = persist.hardState;
    return persist;
  }

  #install(mark: SnapshotMark): void {
    const arrived = this.#arriving.find((snapshot) => snapshot.mark === mark);
    assert(arrived !== undefined, 'the core asks for a snapshot that never came');
    // A newer one may have come in while this one was being written.
    this.#arriving = this.#arriving.filter((snapshot) => snapshot.mark.index > mark.index);
    this.#toApply = [];
    this.disk.mark = { index: mark.index, term: mark.term };
    this.disk.entries = [];
    this.disk.applied = arrived.state.slice();
    this.disk.appliedIndex = mark.index;
    this.disk.configuration = mark.configuration;
  }

  finishWrite(): void {
    const persist = this.write();
    if (persist === undefined) return;
    this.writing = undefined;
    for (const message of this.core.persisted(persist)) this.#options.send({ message });
  }

  applyAll(): void {
    const entries = this.#toApply.splice(0);
    for (const entry of entries) {
      if (entry.index <= this.disk.appliedIndex) continue;
      if (entry.kind === 'config') this.disk.configuration = this.core.applyConfiguration(entry);
      this.disk.applied.push(entry);
      this.disk.appliedIndex = entry.index;
      this.#options.onApply?.(entry);
      this.core.applied(entry.index);
    }
    if (entries.length > 0) this.#options.onApplied?.(entries);
  }

  /** Forgets the log up to `index`, in memory and on disk. */
  compactTo(index: number): void {
    // A snapshot that is about to be installed covers it.
    if (index < this.core.firstIndex) return;
    const term = this.core.termAt(index);
    assert(term !== undefined && index <= this.disk.appliedIndex, `cannot compact to ${index}`);
    this.core.compactTo(index);
    this.disk.mark = { index, term };
    this.disk.entries = this.disk.entries.filter((entry) => entry.index > index);
  }
}
