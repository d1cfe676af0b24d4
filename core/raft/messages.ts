import type { EntryKind, LogEntry, MemberId, SnapshotMark } from './types.ts';

interface Envelope {
  readonly from: MemberId;
  readonly to: MemberId;
  /** The sender's term, but for a pre-vote and its grant: the term that the candidate would have. */
  readonly term: number;
}

/** Entries that follow (prevIndex, prevTerm), and how far the leader has committed. */
export interface AppendMessage extends Envelope {
  readonly kind: 'append';
  readonly prevIndex: number;
  readonly prevTerm: number;
  readonly entries: readonly LogEntry[];
  readonly commit: number;
}

/**
 * Not rejected: the log matches the leader's up to `index`, durably. Rejected: `index` is the prevIndex
 * that did not match, and (hintIndex, hintTerm) the last entry that still might.
 */
export interface AppendReply extends Envelope {
  readonly kind: 'appendReply';
  readonly index: number;
  readonly reject: boolean;
  readonly hintIndex: number;
  readonly hintTerm: number;
}

/** `readRound` numbers the rounds by which a leader proves that it still leads; replies repeat it. */
export interface HeartbeatMessage extends Envelope {
  readonly kind: 'heartbeat';
  readonly commit: number;
  readonly readRound: number;
}

/** What the peer's log is known to match is committed up to `commit`. No one waits for a reply, so there is none. */
export interface CommitMessage extends Envelope {
  readonly kind: 'commit';
  readonly commit: number;
}

export interface HeartbeatReply extends Envelope {
  readonly kind: 'heartbeatReply';
  readonly readRound: number;
}

export interface VoteRequest extends Envelope {
  readonly kind: 'voteRequest';
  /** Asks whether a vote would be given, so that a member that cannot win disturbs no one (thesis 9.6). */
  readonly pre: boolean;
  /** The leader itself asked for this election, so its lease does not stand in the way. */
  readonly transfer: boolean;
  readonly lastIndex: number;
  readonly lastTerm: number;
}

export interface VoteReply extends Envelope {
  readonly kind: 'voteReply';
  readonly pre: boolean;
  readonly reject: boolean;
  /**
   * How far the voter has committed. A candidate whose log reaches there has committed as far, which it may have
   * to know: membership counts from its commit, and without it the wrong members might be asked for ever.
   */
  readonly commit: number;
  readonly commitTerm: number;
}

/** Goes with the bytes of the state, which the owner streams by its own means. */
export interface SnapshotMessage extends Envelope {
  readonly kind: 'snapshot';
  readonly mark: SnapshotMark;
}

export interface TimeoutNowMessage extends Envelope {
  readonly kind: 'timeoutNow';
}

export interface Proposal {
  readonly kind: Exclude<EntryKind, 'empty'>;
  readonly data: Uint8Array;
}

/** Proposals of a follower's clients on their way to the leader. No reply: the entry shows up, or it does not. */
export interface ProposeMessage extends Envelope {
  readonly kind: 'propose';
  readonly proposals: readonly Proposal[];
}

export interface ReadIndexMessage extends Envelope {
  readonly kind: 'readIndex';
  readonly contexts: readonly number[];
}

export interface ReadIndexReply extends Envelope {
  readonly kind: 'readIndexReply';
  readonly index: number;
  readonly contexts: readonly number[];
}

export type Message =
  | AppendMessage
  | AppendReply
  | HeartbeatMessage
  | HeartbeatReply
  | VoteRequest
  | VoteReply
  | SnapshotMessage
  | TimeoutNowMessage
  | ProposeMessage
  | ReadIndexMessage
  | ReadIndexReply
  | CommitMessage;
