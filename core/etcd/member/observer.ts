import type { MemberId } from '../../raft/types.ts';
import type { LessorMetrics } from '../lease/index.ts';

/** Told what a member does; metrics are counted from it. */
export interface MemberObserver {
  readonly leases: LessorMetrics;
  walSynced(seconds: number): void;
  walWritten(bytes: number): void;
  backendCommitted(seconds: number): void;
  applied(entries: number, index: number): void;
  leaderChanged(from: MemberId, to: MemberId, isOwn: boolean): void;
}

const nothing = (): void => undefined;

export const silentObserver: MemberObserver = {
  leases: { granted: nothing, revoked: nothing, renewed: nothing, expired: nothing },
  walSynced: nothing,
  walWritten: nothing,
  backendCommitted: nothing,
  applied: nothing,
  leaderChanged: nothing,
};
