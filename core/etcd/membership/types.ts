import { ReasonError } from '../../base/errors.ts';
import type { MemberId } from '../../raft/types.ts';

/** uint64, as clients see it. Only compared and printed, so it keeps all its bits. */
export type ClusterId = bigint;

/** A member without a name was added and has not started yet. */
export interface Member {
  readonly id: MemberId;
  readonly name: string;
  readonly peerURLs: readonly string[];
  readonly clientURLs: readonly string[];
  readonly isLearner: boolean;
}

export const isStarted = (member: Member): boolean => member.name !== '';

/** What a `config` entry of the log does to the members. */
export type MembershipChange =
  /** The first entry of a log: all first members at the same time. */
  | { readonly kind: 'bootstrap'; readonly members: readonly Member[] }
  | { readonly kind: 'add'; readonly member: Member }
  | { readonly kind: 'promote'; readonly id: MemberId }
  | { readonly kind: 'update'; readonly id: MemberId; readonly peerURLs: readonly string[] }
  | { readonly kind: 'remove'; readonly id: MemberId };

export type MembershipReason =
  | 'IDRemoved'
  | 'IDExists'
  | 'IDNotFound'
  | 'PeerURLExists'
  | 'MemberNotLearner'
  | 'TooManyLearners'
  | 'LearnerNotReady'
  | 'NotEnoughStartedMembers'
  | 'UnhealthyCluster'
  | 'BadURLs'
  /** Flags that contradict each other or the cluster. */
  | 'BadCluster'
  | 'Malformed';

/** The text is what a client of etcd is shown. */
export class MembershipError extends ReasonError<MembershipReason> {
  override readonly name = 'MembershipError';
}

/** What clients are told for each reason that has one text. Removed is not found, as in etcd's answers. */
const TEXTS = {
  IDRemoved: 'etcdserver: member not found',
  IDNotFound: 'etcdserver: member not found',
  IDExists: 'etcdserver: member ID already exist',
  PeerURLExists: 'etcdserver: Peer URLs already exists',
  MemberNotLearner: 'etcdserver: can only promote a learner member',
  TooManyLearners: 'etcdserver: too many learner members in cluster',
  LearnerNotReady: 'etcdserver: can only promote a learner member which is in sync with leader',
  NotEnoughStartedMembers: 'etcdserver: re-configuration failed due to not enough started members',
  UnhealthyCluster: 'etcdserver: unhealthy cluster',
  BadURLs: 'etcdserver: given member URLs are invalid',
} as const satisfies Partial<Record<MembershipReason, string>>;

export const refusal = (reason: keyof typeof TEXTS): MembershipError =>
  new MembershipError(reason, TEXTS[reason]);

export type MembershipBucket = 'members' | 'members_removed' | 'cluster';

/** Where membership is kept, inside the transaction of the entry that is being applied. */
export interface MembershipRows {
  put(bucket: MembershipBucket, key: Uint8Array, value: Uint8Array): void;
  delete(bucket: MembershipBucket, key: Uint8Array): void;
}

/** What `Member` rows and the rest of the buckets hold, as they come from the backend. */
export interface MembershipState {
  readonly members: Iterable<MembershipRow>;
  readonly removed: Iterable<MembershipRow>;
  readonly cluster: Iterable<MembershipRow>;
}

export interface MembershipRow {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}
