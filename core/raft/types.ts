/** Names a member for ever; 1 .. 2^53-1, chosen at random when the member is made. 0 means no one. */
export type MemberId = number;
export const NOBODY: MemberId = 0;

/** `empty` is what a new leader commits first; `config` carries an encoded ConfigChange. */
export type EntryKind = 'empty' | 'normal' | 'config';

export interface LogEntry {
  readonly index: number;
  readonly term: number;
  readonly kind: EntryKind;
  readonly data: Uint8Array;
}

/** What a member must remember across a crash before it speaks again. */
export interface HardState {
  readonly term: number;
  readonly vote: MemberId;
  readonly commit: number;
}

/** Who votes. During a joint change both voter sets must agree, each by its own majority. */
export interface Configuration {
  readonly voters: readonly MemberId[];
  readonly votersOutgoing: readonly MemberId[];
  readonly learners: readonly MemberId[];
  /** Demoted voters that become learners when the joint phase ends. */
  readonly learnersNext: readonly MemberId[];
}

/** State up to `index` as the state machine has it; its bytes are not Raft's business. */
export interface SnapshotMark {
  readonly index: number;
  readonly term: number;
  readonly configuration: Configuration;
}

export type Role = 'follower' | 'precandidate' | 'candidate' | 'leader';

/** The answer to a ReadIndex: anyone who asked may read once `index` is applied. */
export interface ReadState {
  readonly index: number;
  readonly context: number;
}
