import { NOBODY } from '../../raft/types.ts';
import type { LogEntry, MemberId, ReadState, Role, SnapshotMark } from '../../raft/types.ts';
import type { RaftCore } from '../../raft/core.ts';
import type { Message } from '../../raft/messages.ts';
import type { Persist, Turn } from '../../raft/turn.ts';

/** Turns done before other work of the event loop gets its chance. */
const TURNS_AT_ONCE_MAX = 16;

export interface Leadership {
  readonly role: Role;
  readonly term: number;
  readonly leader: MemberId;
}

/** What the driver needs of the rest of the member. */
export interface DriverPorts {
  /** Last chance to tell the core something that belongs into the next turn. */
  beforeTurn(): void;
  /** One write and one sync: resolves when everything of `persist` is durable. */
  persist(persist: Persist): Promise<void>;
  /** Puts the state that was received for this mark in the place of the own one. */
  install(mark: SnapshotMark): Promise<void>;
  send(messages: readonly Message[]): void;
  /** Applies in order, without waiting. */
  apply(entries: readonly LogEntry[]): void;
  /** Whether somebody here waits for what is applied. */
  hasWaiting(): boolean;
  /** Undefined, or what to wait for before more is applied. */
  whenWritable(): Promise<void> | undefined;
  onReadStates(states: readonly ReadState[]): void;
  onLeadership(leadership: Leadership): void;
  onSnapshotsWanted(ids: readonly MemberId[]): void;
  /** The member cannot continue: its disk failed, or an invariant is broken. */
  onFailed(error: unknown): void;
  /** Runs later, after what is ready to be read has been read: so the requests of one moment share a turn. */
  defer(run: () => void): void;
}

/**
 * Does what RaftCore asks for, in the order it has to be done (core/raft/README.md). While one turn is being
 * written to disk, messages and proposals are stepped in and gather for the next: that is the group commit.
 */
export class RaftDriver {
  readonly #raft: RaftCore;
  readonly #ports: DriverPorts;
  readonly #toApply: LogEntry[] = [];
  /** News of a commit, which leave when those who waited for it here have been answered. */
  #late: Message[] = [];
  #told: Leadership = { role: 'follower', term: 0, leader: NOBODY };
  #isScheduled = false;
  #isApplyPaused = false;
  #isStopped = false;
  #persisting: Promise<void> | undefined;

  constructor(raft: RaftCore, ports: DriverPorts) {
    this.#raft = raft;
    this.#ports = ports;
  }

  /** Owed after anything that was told to the core. */
  wake(): void {
    if (this.#isScheduled || this.#isStopped) return;
    this.#isScheduled = true;
    this.#ports.defer(() => {
      this.#isScheduled = false;
      this.#run();
    });
  }

  /** Nothing is sent, written or applied any more; resolves when a write in progress has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#persisting;
  }

  #run(): void {
    try {
      for (let turns = 0; turns < TURNS_AT_ONCE_MAX; turns += 1) {
        if (this.#isStopped) return;
        this.#ports.beforeTurn();
        const turn = this.#raft.turn();
        if (turn === undefined) return;
        this.#do(turn);
      }
      this.wake();
    } catch (error) {
      this.#fail(error);
    }
  }

  #do(turn: Turn): void {
    // What is committed and appends nothing: encrypting it for every peer would come before the answer.
    const isAnswerFirst =
      turn.persist === undefined && turn.apply.length > 0 && turn.send.length > 0 && this.#ports.hasWaiting();
    // A leader's appends leave before its own write ends: its followers write at the same time.
    if (isAnswerFirst) this.#sendLater(turn.send);
    else if (turn.send.length > 0) this.#send(turn.send);
    if (turn.persist !== undefined) this.#persist(turn.persist);
    const { role, term, leader } = turn;
    if (role !== this.#told.role || term !== this.#told.term || leader !== this.#told.leader) {
      this.#told = { role, term, leader };
      this.#ports.onLeadership(this.#told);
    }
    if (turn.apply.length > 0) {
      this.#toApply.push(...turn.apply);
      this.#applyAll();
    }
    if (turn.readStates.length > 0) this.#ports.onReadStates(turn.readStates);
    if (turn.snapshotsWanted.length > 0) this.#ports.onSnapshotsWanted(turn.snapshotsWanted);
  }

  /** In the order of turns. */
  #send(messages: readonly Message[]): void {
    this.#sendLate();
    this.#ports.send(messages);
  }

  #sendLater(messages: readonly Message[]): void {
    const isPlanned = this.#late.length > 0;
    this.#late.push(...messages);
    if (!isPlanned) this.#ports.defer(() => this.#sendLate());
  }

  #sendLate(): void {
    if (this.#late.length === 0 || this.#isStopped) return;
    const messages = this.#late;
    this.#late = [];
    this.#ports.send(messages);
  }

  #persist(persist: Persist): void {
    const write = async (): Promise<void> => {
      if (persist.snapshot !== undefined) {
        // What was to be applied before is part of the state that comes now.
        this.#toApply.length = 0;
        await this.#ports.install(persist.snapshot);
      }
      await this.#ports.persist(persist);
    };
    this.#persisting = write().then(
      () => {
        this.#persisting = undefined;
        if (this.#isStopped) return;
        try {
          const promises = this.#raft.persisted(persist);
          if (promises.length > 0) this.#send(promises);
        } catch (error) {
          this.#fail(error);
          return;
        }
        this.#run();
      },
      (error: unknown) => {
        this.#persisting = undefined;
        this.#fail(error);
      },
    );
  }

  #applyAll(): void {
    if (this.#isApplyPaused || this.#toApply.length === 0) return;
    const writable = this.#ports.whenWritable();
    if (writable !== undefined) {
      this.#isApplyPaused = true;
      const resume = (): void => {
        this.#isApplyPaused = false;
        if (this.#isStopped) return;
        try {
          this.#applyAll();
        } catch (error) {
          this.#fail(error);
          return;
        }
        this.wake();
      };
      writable.then(resume, (error: unknown) => this.#fail(error));
      return;
    }
    const entries = this.#toApply.splice(0);
    this.#ports.apply(entries);
    const last = entries.at(-1);
    if (last !== undefined) this.#raft.applied(last.index);
  }

  #fail(error: unknown): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#ports.onFailed(error);
  }
}
