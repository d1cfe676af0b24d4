import type { Message } from './messages.ts';
import type { HardState, LogEntry, MemberId, ReadState, Role, SnapshotMark } from './types.ts';

/**
 * What must be on disk, synced, before `RaftCore.persisted` is called with this very object. Votes and
 * acknowledgements that promise it are handed out by that call and by nothing else.
 *
 * Write in this order: install `snapshot`, append `entries` (an entry replaces the one of the same index
 * and all that follow it), store `hardState`.
 */
export interface Persist {
  readonly snapshot: SnapshotMark | undefined;
  readonly entries: readonly LogEntry[];
  /** Missing when unchanged. A commit that moved alone waits for company: it can be learnt again. */
  readonly hardState: HardState | undefined;
}

/** A peer whose next entry is compacted away. The owner sends it the state; see README, duty 6. */
export type SnapshotWanted = MemberId;

/** One bundle of work. Everything in it may be done at the same time and in any order, but for what `persist` says. */
export interface Turn {
  readonly role: Role;
  readonly term: number;
  readonly leader: MemberId;
  readonly persist: Persist | undefined;
  /** May leave before `persist` is on disk: a leader's appends and heartbeats (thesis 10.2.1). */
  readonly send: readonly Message[];
  /** Committed and durable here, in order, each exactly once; answered by `RaftCore.applied`. */
  readonly apply: readonly LogEntry[];
  readonly readStates: readonly ReadState[];
  readonly snapshotsWanted: readonly SnapshotWanted[];
}

export type ProposeRefusal =
  | 'NoLeader'
  | 'Removed'
  | 'Transferring'
  | 'UncommittedTooLarge'
  | 'GapTooLarge'
  | 'ForwardTooLarge'
  | 'ConfigPending'
  | 'InvalidChange';

/**
 * `appended`: in the leader's log at (term, index); it is committed if an entry of that term is applied at
 * that index. `forwarded`: on its way to the leader, which may still drop it; the owner waits with a limit.
 */
export type ProposeResult =
  | { readonly kind: 'appended'; readonly term: number; readonly index: number }
  | { readonly kind: 'forwarded'; readonly to: MemberId }
  | { readonly kind: 'refused'; readonly reason: ProposeRefusal };

export type ReadRefusal = 'NoLeader' | 'TooManyReads';

export type TransferRefusal = 'NotLeader' | 'UnknownMember' | 'Learner' | 'AlreadyLeader';
