import { assert, unreachable } from '../base/assert.ts';
import type { Random } from '../base/random.ts';
import { DEFAULT_BOUNDS, type RaftBounds } from './bounds.ts';
import { encodeConfigChange, type ConfigChange } from './configuration.ts';
import { campaign, inLease, onVoteReply, onVoteRequest, voteReply } from './election.ts';
import { onAppend, onHeartbeat, onSnapshot, sendOwnTerm } from './follower.ts';
import { RaftLog } from './log.ts';
import type { Message, SnapshotMessage } from './messages.ts';
import { Persistence } from './persistence.ts';
import {
  applyConfiguration,
  forwardProposals,
  leaveJointWhenDue,
  onPropose,
  propose,
  stepDownWhenDue,
} from './proposals.ts';
import { askReadIndex, flushReads, forwardReads, onReadIndex, onReadIndexReply } from './reads.ts';
import {
  beat,
  flushAppends,
  onAppendReply,
  onHeartbeatReply,
  onOwnPersisted,
  sendTimeoutNow,
} from './replication.ts';
import { RaftState } from './state.ts';
import { statusOf, type RaftStatus } from './status.ts';
import { Tracker } from './tracker.ts';
import type { Persist, ProposeResult, ReadRefusal, TransferRefusal, Turn } from './turn.ts';
import {
  NOBODY,
  type Configuration,
  type HardState,
  type LogEntry,
  type MemberId,
  type Role,
  type SnapshotMark,
} from './types.ts';

export interface RaftOptions {
  readonly id: MemberId;
  readonly random: Random;
  /** Silence after which a follower stands for election, at least; twice that at most. */
  readonly electionTicks: number;
  readonly heartbeatTicks: number;
  readonly hardState: HardState;
  /** As of `applied`. */
  readonly configuration: Configuration;
  /** The log on disk: what follows `mark`, the last compacted entry (0, 0 for none). */
  readonly log: {
    readonly mark: { readonly index: number; readonly term: number };
    readonly entries: readonly LogEntry[];
  };
  readonly applied: number;
  readonly bounds?: Partial<RaftBounds>;
}

const isFromLeader = ({ kind }: Message): boolean =>
  kind === 'append' || kind === 'heartbeat' || kind === 'commit' || kind === 'snapshot';

/** One member's consensus, free of I/O, clock and chance. What the owner owes it is in README.md. */
export class RaftCore {
  readonly #state: RaftState;
  readonly #persistence: Persistence;
  #toldRole: Role = 'follower';
  #toldTerm: number;
  #toldLeader: MemberId = NOBODY;

  constructor(options: RaftOptions) {
    const { id, hardState, electionTicks, heartbeatTicks } = options;
    assert(id !== NOBODY, 'a member needs an id');
    assert(electionTicks > heartbeatTicks, 'a heartbeat must fit into an election timeout');
    const bounds = { ...DEFAULT_BOUNDS, ...options.bounds };
    const log = new RaftLog({ ...options.log, commit: hardState.commit, applied: options.applied });
    this.#state = new RaftState({
      id,
      random: options.random,
      electionTicks,
      heartbeatTicks,
      bounds,
      log,
      tracker: new Tracker({ configuration: options.configuration, bounds, lastIndex: log.lastIndex }),
      hardState,
    });
    this.#persistence = new Persistence(this.#state, hardState);
    this.#toldTerm = hardState.term;
  }

  tick(): void {
    const state = this.#state;
    state.electionElapsedTicks += 1;
    if (state.role === 'leader') {
      this.#tickLeader(state);
    } else if (state.promotable() && state.electionElapsedTicks >= state.electionTimeoutTicks) {
      state.electionElapsedTicks = 0;
      campaign(state, 'pre');
    }
  }

  #tickLeader(state: RaftState): void {
    if (state.electionElapsedTicks >= state.electionTicks) {
      state.electionElapsedTicks = 0;
      // Cut off from a quorum it could only mislead its clients (thesis 6.2).
      if (!state.tracker.quorumActive()) {
        state.becomeFollower(state.term, NOBODY);
        return;
      }
      for (const peer of state.tracker.all) peer.recentActive = peer.id === state.id;
      // The chosen successor did not make it in time: continue leading (thesis 3.10).
      state.transferee = NOBODY;
    }
    state.heartbeatElapsedTicks += 1;
    if (state.heartbeatElapsedTicks >= state.heartbeatTicks) {
      state.heartbeatElapsedTicks = 0;
      beat(state);
    }
  }

  /** How many ticks from now one does more than count, if nothing else happens until then; at least one. */
  ticksUntilDue(): number {
    const state = this.#state;
    const electionTicks = state.role === 'leader' ? state.electionTicks : state.electionTimeoutTicks;
    const untilElection = electionTicks - state.electionElapsedTicks;
    if (state.role !== 'leader') return state.promotable() ? Math.max(1, untilElection) : Infinity;
    return Math.max(1, Math.min(untilElection, state.heartbeatTicks - state.heartbeatElapsedTicks));
  }

  /** Takes in a peer's message. Any message may be lost, doubled, late or out of order. */
  step(message: Message): void {
    const state = this.#state;
    if (message.to !== state.id) return;
    if (message.term > state.term && !this.#enterTerm(state, message)) return;
    if (message.term < state.term) {
      this.#answerOldTerm(state, message);
      return;
    }
    this.#dispatch(state, message);
  }

  /** False when the message is ignored. */
  #enterTerm(state: RaftState, message: Message): boolean {
    if (message.kind === 'voteRequest') {
      if (!message.transfer && inLease(state)) return false;
      if (message.pre) return true;
    }
    // A pre-vote that is granted bears a term that no one has entered yet.
    if (message.kind === 'voteReply' && message.pre && !message.reject) return true;
    state.becomeFollower(message.term, isFromLeader(message) ? message.from : NOBODY);
    return true;
  }

  /**
   * With pre-vote and leases a member that fell out with a higher term is never voted for and never listens:
   * telling the leader that term makes it step down and lets both meet in a new one. A late pre-candidate is
   * told the current term for the same reason.
   */
  #answerOldTerm(state: RaftState, message: Message): void {
    if (isFromLeader(message)) {
      sendOwnTerm(state, message.from);
    } else if (message.kind === 'voteRequest' && message.pre) {
      state.held.push(voteReply(state, { to: message.from, term: state.term, pre: true, reject: true }));
    }
  }

  #dispatch(state: RaftState, message: Message): void {
    switch (message.kind) {
      case 'append':
        if (this.#follow(state, message.from)) onAppend(state, message);
        return;
      case 'heartbeat':
        if (this.#follow(state, message.from)) onHeartbeat(state, message);
        return;
      case 'commit':
        if (this.#follow(state, message.from)) state.commitTo(message.commit);
        return;
      case 'snapshot':
        if (this.#follow(state, message.from)) onSnapshot(state, message);
        return;
      case 'appendReply':
        if (state.role === 'leader') onAppendReply(state, message);
        return;
      case 'heartbeatReply':
        if (state.role === 'leader') onHeartbeatReply(state, message);
        return;
      case 'voteRequest':
        onVoteRequest(state, message);
        return;
      case 'voteReply':
        onVoteReply(state, message);
        return;
      case 'timeoutNow':
        // Skips the pre-vote: the leader itself has given its place up.
        if (state.role === 'follower') campaign(state, 'transfer');
        return;
      case 'propose':
        onPropose(state, message);
        return;
      case 'readIndex':
        if (state.role === 'leader') onReadIndex(state, message);
        return;
      case 'readIndexReply':
        onReadIndexReply(state, message);
        return;
      default:
        unreachable(message, 'raft message');
    }
  }

  /** There is one leader a term, so anyone who speaks as such is it. */
  #follow(state: RaftState, leader: MemberId): boolean {
    if (state.role === 'leader') return false;
    if (state.role !== 'follower') state.becomeFollower(state.term, leader);
    state.electionElapsedTicks = 0;
    state.leader = leader;
    return true;
  }

  /** On a leader appends, on a follower goes to the leader with the next turn. */
  propose(data: Uint8Array): ProposeResult {
    return propose(this.#state, { kind: 'normal', data });
  }

  /** Several voters at the same time go through a joint configuration, which is left without further ado. */
  proposeConfiguration(change: ConfigChange): ProposeResult {
    if (change.changes.length === 0) return { kind: 'refused', reason: 'InvalidChange' };
    return propose(this.#state, { kind: 'config', data: encodeConfigChange(change) });
  }

  /** For a `config` entry of `Turn.apply`, before it is reported by `applied`. */
  applyConfiguration(entry: LogEntry): Configuration {
    assert(entry.kind === 'config', `entry ${entry.index} is no configuration`);
    return applyConfiguration(this.#state, entry);
  }

  /** The answer comes as a ReadState with this context, or never: ask again with a fresh one after a while. */
  readIndex(context: number): ReadRefusal | undefined {
    return askReadIndex(this.#state, context);
  }

  /** Undefined: in progress. It is given up after an election timeout. */
  transferLeader(to: MemberId): TransferRefusal | undefined {
    const state = this.#state;
    const peer = state.tracker.get(to);
    if (state.role !== 'leader') return 'NotLeader';
    if (peer === undefined) return 'UnknownMember';
    if (peer.learner) return 'Learner';
    if (to === state.id) return 'AlreadyLeader';
    if (to === state.transferee) return undefined;
    state.electionElapsedTicks = 0;
    state.transferee = to;
    if (peer.match === state.log.lastIndex) sendTimeoutNow(state, peer);
    else peer.nudge = true;
    return undefined;
  }

  /** Stands for election now, by way of a pre-vote. */
  campaign(): void {
    campaign(this.#state, 'pre');
  }

  /**
   * The owner knows that the leader is gone, so nothing is owed to its lease: this member votes for others at the same time.
   * Term and vote stay, and a leader that is heard after all is followed again.
   */
  forgetLeader(): void {
    if (this.#state.role === 'follower') this.#state.leader = NOBODY;
  }

  /** The last messages to this peer are lost: probe again what it has. */
  reportUnreachable(id: MemberId): void {
    const peer = this.#state.tracker.get(id);
    if (peer?.state === 'replicate') peer.becomeProbe();
  }

  /**
   * What to send along with the bytes of the state at `mark` (see `mark`), to a peer of `snapshotsWanted`.
   * Undefined when it is no longer wanted.
   */
  snapshotMessage(to: MemberId, mark: SnapshotMark): SnapshotMessage | undefined {
    const state = this.#state;
    const peer = state.tracker.get(to);
    if (state.role !== 'leader' || peer?.state !== 'snapshot') return undefined;
    peer.pendingSnapshot = mark.index;
    return { kind: 'snapshot', from: state.id, to, term: state.term, mark };
  }

  /** The transfer to this peer has ended. Owed for every peer of `snapshotsWanted`. */
  reportSnapshot(id: MemberId, ok: boolean): void {
    const peer = this.#state.tracker.get(id);
    if (peer?.state !== 'snapshot') return;
    if (!ok) peer.pendingSnapshot = 0;
    peer.becomeProbe();
    // Wait for a sign of life: the acknowledgement of the state, or a heartbeat's reply.
    peer.probeSent = true;
  }

  /**
   * The work owed now; undefined when there is none. May be called while an earlier turn is being persisted:
   * what has to be written then gathers for the turn after.
   */
  turn(): Turn | undefined {
    const state = this.#state;
    if (state.held.length > 0 && this.#persistence.isClean()) {
      this.#release(state.held.splice(0), state.outbox);
    }
    stepDownWhenDue(state);
    if (state.role === 'leader') {
      leaveJointWhenDue(state);
      flushReads(state);
      flushAppends(state);
    } else {
      forwardProposals(state, state.leader);
      forwardReads(state, state.leader);
    }
    const persist = this.#persistence.take();
    const apply = state.log.takeCommitted(state.bounds.applyingBytesMax);
    const { role, term, leader } = state;
    const told = role === this.#toldRole && term === this.#toldTerm && leader === this.#toldLeader;
    const idle =
      persist === undefined &&
      apply.length === 0 &&
      state.outbox.length === 0 &&
      state.readStates.length === 0 &&
      state.snapshotsWanted.length === 0;
    if (idle && told) return undefined;
    this.#toldRole = role;
    this.#toldTerm = term;
    this.#toldLeader = leader;
    return { role, term, leader, persist, apply, ...state.takeOutput() };
  }

  /**
   * `persist` is on disk (and its snapshot installed): returns the votes and acknowledgements that may leave
   * now. Only here do this member's own vote and own log begin to count.
   */
  persisted(persist: Persist): readonly Message[] {
    const promises = this.#persistence.done(persist);
    onOwnPersisted(this.#state);
    const free: Message[] = [];
    this.#release(promises, free);
    return free;
  }

  #release(messages: readonly Message[], into: Message[]): void {
    for (const message of messages) {
      // In the term that has begun since, the entries that it speaks of may be replaced already.
      if (message.kind === 'appendReply' && message.term < this.#state.term) continue;
      if (message.to === this.#state.id) this.step(message);
      else into.push(message);
    }
  }

  /** Everything up to `index` is applied. */
  applied(index: number): void {
    this.#state.log.appliedTo(index);
  }

  /** Names the state that the owner has applied, for a snapshot of it. */
  mark(): SnapshotMark {
    const { log, tracker } = this.#state;
    const index = log.applied;
    const term = log.term(index);
    assert(term !== undefined, `the log does not reach back to the applied index ${index}`);
    return { index, term, configuration: tracker.configuration };
  }

  /** Forgets the log up to `index`, which the owner has in a snapshot. Leave a tail for peers that lag a little. */
  compactTo(index: number): void {
    this.#state.log.compactTo(index);
  }

  get firstIndex(): number {
    return this.#state.log.firstIndex;
  }
  get lastIndex(): number {
    return this.#state.log.lastIndex;
  }
  get leader(): MemberId {
    return this.#state.leader;
  }
  get role(): Role {
    return this.#state.role;
  }
  get term(): number {
    return this.#state.term;
  }
  get configuration(): Configuration {
    return this.#state.tracker.configuration;
  }

  /** Undefined outside of the log. */
  termAt(index: number): number | undefined {
    return this.#state.log.term(index);
  }

  entries(from: number, bytesMax: number): LogEntry[] {
    return this.#state.log.entries(from, bytesMax);
  }

  status(): RaftStatus {
    return statusOf(this.#state);
  }
}
