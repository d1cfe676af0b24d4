import type { Random } from '../base/random.ts';
import type { RaftBounds } from './bounds.ts';
import type { RaftLog } from './log.ts';
import type { Message, Proposal } from './messages.ts';
import type { Tracker } from './tracker.ts';
import type { Turn } from './turn.ts';
import { NOBODY, type HardState, type LogEntry, type MemberId, type ReadState, type Role } from './types.ts';

/** Reads of one asker that wait for the same round. */
export interface ReadRequest {
  readonly from: MemberId;
  readonly contexts: readonly number[];
}

/** Reads that are answered together: `index` was the commit index when round `round` was sent out. */
export interface ReadBatch {
  readonly round: number;
  readonly index: number;
  readonly requests: readonly ReadRequest[];
}

export const EMPTY_DATA = new Uint8Array(0);

/** Shared: most turns have something of one kind and nothing of the others. */
const NOTHING: readonly never[] = Object.freeze([]);

/**
 * Everything a member knows between two inputs, and the transitions between roles. The protocol itself is in
 * the files beside this one, each a set of functions over this state; `core.ts` is the door.
 */
export class RaftState {
  readonly id: MemberId;
  readonly random: Random;
  readonly electionTicks: number;
  readonly heartbeatTicks: number;
  readonly bounds: RaftBounds;
  readonly log: RaftLog;
  readonly tracker: Tracker;

  term: number;
  vote: MemberId;
  role: Role = 'follower';
  leader: MemberId = NOBODY;
  electionElapsedTicks = 0;
  heartbeatElapsedTicks = 0;
  electionTimeoutTicks = 0;
  readonly votes = new Map<MemberId, boolean>();

  transferee: MemberId = NOBODY;
  /** A config entry may sit at or below this index; the next waits until it is applied. */
  pendingConfigIndex = 0;
  uncommittedBytes = 0;
  /** Set on a leader that is no voter any more: the change, and the round after which it may go. */
  farewell: { readonly index: number; readonly round: number } | undefined;

  /** Reads since the last flush; the contexts that a follower forwards are in here too. */
  readonly readsOpen: ReadRequest[] = [];
  readonly readBatches: ReadBatch[] = [];
  readsPendingCount = 0;
  readRound = 0;
  readStates: ReadState[] = [];

  forwards: Proposal[] = [];
  forwardBytes = 0;

  /** Leaves with the next turn. */
  outbox: Message[] = [];
  /** Promises: leave when everything known at this moment is on disk. May be addressed to this member itself. */
  held: Message[] = [];
  snapshotsWanted: MemberId[] = [];

  constructor(options: {
    readonly id: MemberId;
    readonly random: Random;
    readonly electionTicks: number;
    readonly heartbeatTicks: number;
    readonly bounds: RaftBounds;
    readonly log: RaftLog;
    readonly tracker: Tracker;
    readonly hardState: HardState;
  }) {
    this.id = options.id;
    this.random = options.random;
    this.electionTicks = options.electionTicks;
    this.heartbeatTicks = options.heartbeatTicks;
    this.bounds = options.bounds;
    this.log = options.log;
    this.tracker = options.tracker;
    this.term = options.hardState.term;
    this.vote = options.hardState.vote;
    this.drawElectionTimeout();
  }

  /** In [electionTicks, 2 * electionTicks), so that elections seldom collide (Raft paper, section 5.2). */
  drawElectionTimeout(): void {
    this.electionTimeoutTicks = this.electionTicks + this.random.below(this.electionTicks);
  }

  /** May stand for election: a voter whose state is whole. */
  promotable(): boolean {
    const own = this.tracker.get(this.id);
    return own !== undefined && !own.learner && this.log.snapshot === undefined;
  }

  #reset(term: number): void {
    if (this.term !== term) {
      this.term = term;
      this.vote = NOBODY;
    }
    this.leader = NOBODY;
    this.electionElapsedTicks = 0;
    this.heartbeatElapsedTicks = 0;
    this.drawElectionTimeout();
    this.transferee = NOBODY;
    this.votes.clear();
    this.tracker.reset(this.log.lastIndex);
    this.pendingConfigIndex = 0;
    this.uncommittedBytes = 0;
    this.farewell = undefined;
    this.readsOpen.length = 0;
    this.readBatches.length = 0;
    this.readsPendingCount = 0;
    this.forwards = [];
    this.forwardBytes = 0;
    this.snapshotsWanted = [];
  }

  becomeFollower(term: number, leader: MemberId): void {
    this.#reset(term);
    this.role = 'follower';
    this.leader = leader;
  }

  /** Changes neither term nor vote: asking costs nothing (thesis 9.6). */
  becomePrecandidate(): void {
    this.role = 'precandidate';
    this.leader = NOBODY;
    this.votes.clear();
    this.drawElectionTimeout();
  }

  becomeCandidate(): void {
    this.#reset(this.term + 1);
    this.role = 'candidate';
    this.vote = this.id;
  }

  becomeLeader(): void {
    this.#reset(this.term);
    this.role = 'leader';
    this.leader = this.id;
    const own = this.tracker.get(this.id);
    if (own !== undefined) {
      own.becomeReplicate();
      own.recentActive = true;
      // Only what is on this member's disk counts towards a quorum (thesis 10.2.1).
      own.match = this.log.stable;
      own.next = this.log.lastIndex + 1;
    }
    // There may be a config entry in the uncommitted tail; waiting for all of it is cheaper than a search.
    this.pendingConfigIndex = this.log.lastIndex;
    // Commits the entries of earlier terms with it, and opens the door for reads (paper 5.4.2, thesis 6.4).
    this.append('empty', EMPTY_DATA);
  }

  append(kind: LogEntry['kind'], data: Uint8Array): LogEntry {
    const entry: LogEntry = { index: this.log.lastIndex + 1, term: this.term, kind, data };
    this.log.append(entry);
    this.uncommittedBytes += data.length;
    return entry;
  }

  /** Moves the commit index and what depends on it. Only a leader counts uncommitted bytes. */
  commitTo(index: number): boolean {
    const before = this.log.committed;
    if (!this.log.commitTo(index)) return false;
    if (this.role === 'leader') this.uncommittedBytes -= this.log.payloadBytes(before, index);
    if (this.uncommittedBytes < 0) this.uncommittedBytes = 0;
    return true;
  }

  /** Hands over what has gathered for the turn. */
  takeOutput(): Pick<Turn, 'send' | 'readStates' | 'snapshotsWanted'> {
    const { outbox: send, readStates, snapshotsWanted } = this;
    if (send.length > 0) this.outbox = [];
    if (readStates.length > 0) this.readStates = [];
    if (snapshotsWanted.length > 0) this.snapshotsWanted = [];
    return {
      send: send.length > 0 ? send : NOTHING,
      readStates: readStates.length > 0 ? readStates : NOTHING,
      snapshotsWanted: snapshotsWanted.length > 0 ? snapshotsWanted : NOTHING,
    };
  }
}
