import {
  isPodTerminal,
  type HandlerResult,
  type Pod,
  type ReplicaSet,
  type Stored,
} from '../../client/index.ts';
import { deleteOldRevisions } from './history.ts';
import { ensureNewReplicaSet } from './new-replica-set.ts';
import { actualReplicas, availableReplicas, byAge, isActive, totalReplicas } from './replica-sets.ts';
import { isComplete, syncRolloutStatus } from './rollout-status.ts';
import type { Rollout } from './rollout.ts';
import { maxUnavailableOf, newReplicaSetSize, replicasOf } from './strategy.ts';

/** Takes from the oldest first, at most `total` in all; resolves with how many were taken. */
const takeFromOld = async (
  rollout: Rollout,
  total: number,
  surplusOf: (replicaSet: Stored<ReplicaSet>) => number,
): Promise<number> => {
  let taken = 0;
  for (const replicaSet of rollout.old.filter(isActive).sort(byAge)) {
    const count = Math.min(total - taken, surplusOf(replicaSet));
    if (count <= 0) continue;
    await rollout.scale(replicaSet, replicasOf(replicaSet) - count);
    taken += count;
  }
  return taken;
};

/**
 * Unhealthy old pods go first, since they only stand in the way; then as many healthy ones as availability allows. Pods
 * of the new replica set that are not available yet count as missing, so that a bad template stops the rollout.
 */
const shrinkOld = async (rollout: Rollout, newest: Stored<ReplicaSet>): Promise<boolean> => {
  const { deployment } = rollout;
  if (totalReplicas(rollout.old) === 0) return false;
  const availableMin = replicasOf(deployment) - maxUnavailableOf(deployment);
  const unavailableNew = replicasOf(newest) - (newest.status?.availableReplicas ?? 0);
  const takenMax = totalReplicas(rollout.all) - availableMin - unavailableNew;
  if (takenMax <= 0) return false;
  const unhealthy = await takeFromOld(
    rollout,
    takenMax,
    (old) => replicasOf(old) - (old.status?.availableReplicas ?? 0),
  );
  const spare = availableReplicas(rollout.all) - availableMin;
  const healthy = spare > 0 ? await takeFromOld(rollout, spare, replicasOf) : 0;
  return unhealthy + healthy > 0;
};

const growNewest = async (rollout: Rollout, newest: Stored<ReplicaSet>): Promise<boolean> => {
  const { deployment } = rollout;
  const [current, wanted] = [replicasOf(newest), replicasOf(deployment)];
  if (current === wanted) return false;
  const size =
    current > wanted
      ? wanted
      : newReplicaSetSize(deployment, { current, totalReplicas: totalReplicas(rollout.all) });
  return rollout.scale(newest, size);
};

export const rollOut = async (rollout: Rollout): Promise<HandlerResult> => {
  await ensureNewReplicaSet(rollout);
  const isMoving =
    (await growNewest(rollout, rollout.newest!)) || (await shrinkOld(rollout, rollout.newest!));
  if (!isMoving && isComplete(rollout.deployment, rollout.deployment.status))
    await deleteOldRevisions(rollout);
  return syncRolloutStatus(rollout);
};

/** Old pods count until they are over: two versions must not run at the same time. */
const isOldRunning = (
  { newest, old, all }: Rollout,
  podsOf: (replicaSet: Stored<ReplicaSet>) => readonly Stored<Pod>[],
): boolean =>
  actualReplicas(old) > 0 ||
  all
    .filter((replicaSet) => replicaSet !== newest)
    .some((replicaSet) => podsOf(replicaSet).some((pod) => !isPodTerminal(pod)));

export const recreate = async (
  rollout: Rollout,
  podsOf: (replicaSet: Stored<ReplicaSet>) => readonly Stored<Pod>[],
): Promise<HandlerResult> => {
  let isMoving = false;
  for (const replicaSet of rollout.old.filter(isActive))
    isMoving = (await rollout.scale(replicaSet, 0)) || isMoving;
  if (isMoving || isOldRunning(rollout, podsOf)) return syncRolloutStatus(rollout);
  await ensureNewReplicaSet(rollout);
  await rollout.scale(rollout.newest!, replicasOf(rollout.deployment));
  if (isComplete(rollout.deployment, rollout.deployment.status)) await deleteOldRevisions(rollout);
  return syncRolloutStatus(rollout);
};
