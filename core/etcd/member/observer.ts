import type { MemberId } from '../../raft/types.ts';
import type { LessorMetrics } from '../lease/index.ts';
import { unobservedCompactions, type CompactionObserver } from '../mvcc/compaction.ts';
import type { RequestEntry } from './request-entry.ts';

/** Told what a member does; metrics are counted from it. */
export interface MemberObserver {
  readonly leases: LessorMetrics;
  readonly compactions: CompactionObserver;
  walSynced(seconds: number): void;
  walWritten(bytes: number): void;
  /** One request was applied, or refused. */
  requestApplied(kind: RequestEntry['kind'], seconds: number, isDone: boolean): void;
  /** It took longer than `--warning-apply-duration`. */
  applySlow(): void;
  /** As leader it came late to its own heartbeat. */
  heartbeatLate(): void;
  /** The leader had to be asked again, or did not answer at all. */
  readIndexSlow(): void;
  readIndexFailed(): void;
  /** The log was marked up to what the database holds. */
  snapshotSaved(seconds: number, syncSeconds: number): void;
  /** The state of the leader was stored. */
  stateReceived(seconds: number, syncSeconds: number): void;
  stateInstalling(isInProgress: boolean): void;
  backendCommitted(seconds: number): void;
  applied(entries: number, index: number): void;
  leaderChanged(from: MemberId, to: MemberId, isOwn: boolean): void;
}

const nothing = (): void => undefined;

export const silentObserver: MemberObserver = {
  leases: { granted: nothing, revoked: nothing, renewed: nothing, expired: nothing },
  walSynced: nothing,
  walWritten: nothing,
  compactions: unobservedCompactions,
  requestApplied: nothing,
  applySlow: nothing,
  heartbeatLate: nothing,
  readIndexSlow: nothing,
  readIndexFailed: nothing,
  snapshotSaved: nothing,
  stateReceived: nothing,
  stateInstalling: nothing,
  backendCommitted: nothing,
  applied: nothing,
  leaderChanged: nothing,
};
