import { findCondition } from '../../api/meta/conditions.ts';
import { formatTime, parseTime } from '../../api/meta/time.ts';
import type { V1DeploymentCondition, V1DeploymentStatus } from '../../api/schema/index.ts';
import type { Deployment, HandlerResult, Stored } from '../../client/index.ts';
import { compactStatus, sameStatus } from '../workloads/status.ts';
import {
  progressing,
  progressingOf,
  withDeploymentCondition,
  withoutCondition,
  type Conditions,
} from './conditions.ts';
import {
  actualReplicas,
  availableReplicas,
  readyReplicas,
  terminatingReplicas,
  totalReplicas,
} from './replica-sets.ts';
import type { Rollout } from './rollout.ts';
import { maxUnavailableOf, progressDeadlineMs, replicasOf } from './strategy.ts';

const STATUS_ZEROS = ['terminatingReplicas', 'collisionCount'] as const;
/** Times are whole seconds: a look at the very end of a deadline would come a moment early. */
const DEADLINE_SLACK_MS = 1000;

const availability = (deployment: Deployment, available: number, nowMs: number): V1DeploymentCondition => {
  const isEnough = available >= replicasOf(deployment) - maxUnavailableOf(deployment);
  const now = formatTime(nowMs);
  return {
    type: 'Available',
    status: isEnough ? 'True' : 'False',
    reason: isEnough ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: isEnough
      ? 'Deployment has minimum availability.'
      : 'Deployment does not have minimum availability.',
    lastUpdateTime: now,
    lastTransitionTime: now,
  };
};

export const statusOf = ({ deployment, newest, all, clock }: Rollout): V1DeploymentStatus => {
  const available = availableReplicas(all);
  const terminating = terminatingReplicas(all);
  const { collisionCount, conditions } = deployment.status ?? {};
  return compactStatus<V1DeploymentStatus>(
    {
      observedGeneration: deployment.metadata.generation ?? 0,
      replicas: actualReplicas(all),
      updatedReplicas: newest ? actualReplicas([newest]) : 0,
      readyReplicas: readyReplicas(all),
      availableReplicas: available,
      unavailableReplicas: Math.max(0, totalReplicas(all) - available),
      ...(collisionCount !== undefined && { collisionCount }),
      ...(terminating !== undefined && { terminatingReplicas: terminating }),
      conditions: [
        ...withDeploymentCondition(conditions, availability(deployment, available, clock.nowMs())),
      ],
    },
    STATUS_ZEROS,
  );
};

export const isComplete = (deployment: Stored<Deployment>, status: V1DeploymentStatus | undefined): boolean =>
  [status?.updatedReplicas, status?.replicas, status?.availableReplicas].every(
    (count) => (count ?? 0) === replicasOf(deployment),
  ) && (status?.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0);

const hasProgressed = (before: V1DeploymentStatus = {}, after: V1DeploymentStatus): boolean => {
  const count = (status: V1DeploymentStatus, field: 'replicas' | 'updatedReplicas'): number =>
    status[field] ?? 0;
  const outdated = (status: V1DeploymentStatus): number =>
    count(status, 'replicas') - count(status, 'updatedReplicas');
  return (
    count(after, 'updatedReplicas') > count(before, 'updatedReplicas') ||
    outdated(after) < outdated(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
};

const isTimedOut = (
  condition: V1DeploymentCondition | undefined,
  deadlineMs: number,
  nowMs: number,
): boolean => {
  if (!condition || condition.reason === 'NewReplicaSetAvailable') return false;
  if (condition.reason === 'ProgressDeadlineExceeded') return true;
  return (parseTime(condition.lastUpdateTime ?? '') ?? nowMs) + deadlineMs < nowMs;
};

/** What the condition Progressing says now; a rollout that was completed is not judged again. */
const progressConditions = (rollout: Rollout, status: V1DeploymentStatus): Conditions => {
  const { deployment, newest } = rollout;
  const conditions = status.conditions ?? [];
  const deadlineMs = progressDeadlineMs(deployment);
  if (deadlineMs === undefined) return withoutCondition(conditions, 'Progressing');
  const held = progressingOf(deployment.status?.conditions);
  if ((status.replicas ?? 0) === (status.updatedReplicas ?? 0) && held?.reason === 'NewReplicaSetAvailable')
    return conditions;
  const nowMs = rollout.clock.nowMs();
  const subject = newest
    ? `ReplicaSet "${newest.metadata.name}"`
    : `Deployment "${deployment.metadata.name}"`;
  if (isComplete(deployment, status)) {
    const message = `${subject} has successfully progressed.`;
    return withDeploymentCondition(conditions, progressing('True', 'NewReplicaSetAvailable', message, nowMs));
  }
  if (hasProgressed(deployment.status, status)) {
    const moved = progressing('True', 'ReplicaSetUpdated', `${subject} is progressing.`, nowMs);
    const since = held?.status === 'True' ? held.lastTransitionTime : undefined;
    // Written also when reason and status are the same: the deadline counts from here.
    return [
      ...withoutCondition(conditions, 'Progressing'),
      { ...moved, ...(since !== undefined && { lastTransitionTime: since }) },
    ];
  }
  if (isTimedOut(progressingOf(conditions), deadlineMs, nowMs)) {
    const message = `${subject} has timed out progressing.`;
    return withDeploymentCondition(
      conditions,
      progressing('False', 'ProgressDeadlineExceeded', message, nowMs),
    );
  }
  return conditions;
};

const replicaFailure = ({ newest, old }: Rollout): V1DeploymentCondition | undefined => {
  for (const replicaSet of newest ? [newest, ...old] : old) {
    const failure = findCondition(replicaSet.status?.conditions, 'ReplicaFailure');
    if (failure?.lastTransitionTime) return { ...failure, lastUpdateTime: failure.lastTransitionTime };
    if (failure) return failure;
  }
  return undefined;
};

const untilDeadline = (rollout: Rollout, status: V1DeploymentStatus): HandlerResult => {
  const { deployment, clock } = rollout;
  const held = progressingOf(status.conditions);
  const deadlineMs = progressDeadlineMs(deployment);
  if (deadlineMs === undefined || !held || held.reason === 'ProgressDeadlineExceeded') return;
  if (isComplete(deployment, status)) return;
  const sinceMs = parseTime(held.lastUpdateTime ?? '') ?? clock.nowMs();
  return { requeueAfterMs: Math.max(0, sinceMs + deadlineMs - clock.nowMs()) + DEADLINE_SLACK_MS };
};

const writeIfChanged = async (rollout: Rollout, status: V1DeploymentStatus): Promise<void> => {
  if (!sameStatus(rollout.deployment.status, status, STATUS_ZEROS)) await rollout.writeStatus(status);
};

/** Counts only: for what is no rollout, a scaling or a pause. */
export const syncStatus = async (rollout: Rollout): Promise<void> =>
  writeIfChanged(rollout, statusOf(rollout));

/** Counts, and says how the rollout goes. Comes back when its deadline is over. */
export const syncRolloutStatus = async (rollout: Rollout): Promise<HandlerResult> => {
  const counted = statusOf(rollout);
  const judged = progressConditions(rollout, counted);
  const failure = replicaFailure(rollout);
  const conditions = failure
    ? withDeploymentCondition(judged, failure)
    : withoutCondition(judged, 'ReplicaFailure');
  const status: V1DeploymentStatus = { ...counted, conditions: [...conditions] };
  const deadline = untilDeadline(rollout, status);
  await writeIfChanged(rollout, status);
  return deadline;
};
