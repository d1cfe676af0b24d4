import type { MemberId } from '../../raft/types.ts';
import { isStarted, refusal, type Member, type MembershipError } from './types.ts';

/** A connection counts as healthy once it has been up this long (etcd's HealthInterval). */
export const HEALTH_INTERVAL_MS = 5000;
/** A learner may vote when it has this much of what the leader has (etcd's readyPercent). */
export const LEARNER_READY_RATIO = 0.9;

/** The cluster as this member sees it when a change is asked for. */
export interface ClusterView {
  readonly members: readonly Member[];
  readonly localId: MemberId;
  /** Monotonic, like `activeSinceMs`. */
  readonly nowMs: number;
  /** Since when the way to that member is up; undefined while it is down. Not asked for this member. */
  activeSinceMs(id: MemberId): number | undefined;
}

/**
 * etcd's strict reconfiguration check (`--strict-reconfig-check`): changes that could cost the quorum are
 * refused before they are proposed. Each returns why not, or undefined.
 */
export const mayAdd = (view: ClusterView, member: Pick<Member, 'isLearner'>): MembershipError | undefined => {
  const voters = votersOf(view);
  if (!member.isLearner) {
    const startedCount = voters.filter(isStarted).length;
    const votersCount = voters.length + 1;
    // One started member may always get a second: that is how a cluster grows from one.
    const growsFromOne = startedCount === 1 && votersCount === 2;
    if (!growsFromOne && startedCount < quorumOf(votersCount)) return refusal('NotEnoughStartedMembers');
  }
  return healthyCount(view, voters) < voters.length ? refusal('UnhealthyCluster') : undefined;
};

export const mayRemove = (view: ClusterView, id: MemberId): MembershipError | undefined => {
  const voters = votersOf(view);
  // A learner has no vote to lose; an unknown member is refused by the change itself.
  if (!voters.some((voter) => voter.id === id)) return undefined;
  const others = voters.filter((voter) => voter.id !== id);
  if (others.filter(isStarted).length < quorumOf(others.length)) return refusal('NotEnoughStartedMembers');
  // A member that is down is not part of the quorum that is at work now.
  if (id !== view.localId && view.activeSinceMs(id) === undefined) return undefined;
  const left = healthyCount(view, voters) - 1;
  return left < 1 + Math.floor((voters.length - 1) / 2) ? refusal('UnhealthyCluster') : undefined;
};

/** Not part of the strict check: a learner that lags must never vote. Asked on the leader, which alone knows. */
export const learnerReady = (progress: {
  readonly learnerMatch: number | undefined;
  readonly leaderMatch: number;
}): MembershipError | undefined => {
  if (progress.learnerMatch === undefined) return refusal('IDNotFound');
  const enough = progress.leaderMatch * LEARNER_READY_RATIO;
  return progress.learnerMatch < enough ? refusal('LearnerNotReady') : undefined;
};

/** The learner counts as a voter that has started. */
export const mayPromote = (view: ClusterView): MembershipError | undefined => {
  const voters = votersOf(view);
  const startedCount = voters.filter(isStarted).length + 1;
  return startedCount < quorumOf(voters.length + 1) ? refusal('NotEnoughStartedMembers') : undefined;
};

const votersOf = (view: ClusterView): Member[] => view.members.filter((member) => !member.isLearner);
const quorumOf = (count: number): number => Math.floor(count / 2) + 1;

const healthyCount = (view: ClusterView, voters: readonly Member[]): number =>
  voters.filter(({ id }) => {
    if (id === view.localId) return true;
    const sinceMs = view.activeSinceMs(id);
    return sinceMs !== undefined && sinceMs < view.nowMs - HEALTH_INTERVAL_MS;
  }).length;
