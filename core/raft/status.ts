import type { ProgressState } from './progress.ts';
import type { RaftState } from './state.ts';
import type { Configuration, MemberId, Role } from './types.ts';

export interface PeerStatus {
  readonly id: MemberId;
  readonly learner: boolean;
  readonly match: number;
  readonly next: number;
  readonly state: ProgressState;
  readonly paused: boolean;
  readonly inflightMessages: number;
  readonly inflightBytes: number;
  readonly pendingSnapshot: number;
  readonly recentActive: boolean;
}

export interface RaftStatus {
  readonly id: MemberId;
  readonly role: Role;
  readonly term: number;
  readonly vote: MemberId;
  readonly leader: MemberId;
  readonly transferee: MemberId;
  readonly firstIndex: number;
  readonly lastIndex: number;
  readonly stable: number;
  readonly commit: number;
  readonly applied: number;
  readonly uncommittedBytes: number;
  readonly configuration: Configuration;
  /** Empty on all but the leader, who alone knows. */
  readonly peers: readonly PeerStatus[];
}

export const statusOf = (state: RaftState): RaftStatus => ({
  id: state.id,
  role: state.role,
  term: state.term,
  vote: state.vote,
  leader: state.leader,
  transferee: state.transferee,
  firstIndex: state.log.firstIndex,
  lastIndex: state.log.lastIndex,
  stable: state.log.stable,
  commit: state.log.committed,
  applied: state.log.applied,
  uncommittedBytes: state.uncommittedBytes,
  configuration: state.tracker.configuration,
  peers: state.role === 'leader' ? state.tracker.all.map(peerStatusOf) : [],
});

const peerStatusOf = (peer: RaftState['tracker']['all'][number]): PeerStatus => ({
  id: peer.id,
  learner: peer.learner,
  match: peer.match,
  next: peer.next,
  state: peer.state,
  paused: peer.paused,
  inflightMessages: peer.inflights.count,
  inflightBytes: peer.inflights.bytes,
  pendingSnapshot: peer.pendingSnapshot,
  recentActive: peer.recentActive,
});
