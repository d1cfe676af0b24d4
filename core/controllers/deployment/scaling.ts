import type { Deployment, ReplicaSet, Stored } from '../../client/index.ts';
import { maxReplicasOf } from './annotations.ts';
import { bySize, byAge, isActive, isSaturated, totalReplicas } from './replica-sets.ts';
import type { Rollout } from './rollout.ts';
import { isRollingUpdate, maxSurgeOf, replicasOf } from './strategy.ts';

type Set = Stored<ReplicaSet>;

/** Half away from zero, as Go rounds. */
const round = (value: number): number => Math.sign(value) * Math.round(Math.abs(value));

/** How much a replica set would grow (or shrink) for its share to stay what it was. */
const fractionOf = (replicaSet: Set, deployment: Deployment): number => {
  const size = replicasOf(replicaSet);
  if (replicasOf(deployment) === 0) return -size;
  const maxBefore = maxReplicasOf(replicaSet) || (deployment.status?.replicas ?? 0);
  if (maxBefore === 0) return 0;
  return round((size * (replicasOf(deployment) + maxSurgeOf(deployment))) / maxBefore) - size;
};

/**
 * Sizes that spread a change of the deployment over its active replica sets by their shares, so that scaling in the
 * middle of a rollout changes nothing of its risk. What rounding leaves goes to the largest.
 */
export const proportionalSizes = (
  deployment: Deployment,
  active: readonly Set[],
): readonly { readonly replicaSet: Set; readonly size: number }[] => {
  const wanted = replicasOf(deployment);
  const allowed = wanted > 0 ? wanted + maxSurgeOf(deployment) : 0;
  const change = allowed - totalReplicas(active);
  const sorted = [...active].sort(bySize(change > 0));
  let given = 0;
  const sizes = sorted.map((replicaSet) => {
    const left = change - given;
    const fraction = left === 0 ? 0 : fractionOf(replicaSet, deployment);
    const share = change > 0 ? Math.min(fraction, left) : Math.max(fraction, left);
    given += share;
    return { replicaSet, size: replicasOf(replicaSet) + share };
  });
  return sizes.map(({ replicaSet, size }, i) => ({
    replicaSet,
    size: i === 0 ? Math.max(0, size + change - given) : size,
  }));
};

/** The only active one; the newest when none is; undefined when several are. */
const onlyActiveOrLatest = ({ newest, old, all }: Rollout): Set | undefined => {
  const active = all.filter(isActive);
  if (active.length > 1) return undefined;
  return active[0] ?? newest ?? [...old].sort(byAge).at(-1);
};

/** Brings the sizes to a deployment that was scaled, or that is paused. */
export const scaleDeployment = async (rollout: Rollout): Promise<void> => {
  const { deployment } = rollout;
  const only = onlyActiveOrLatest(rollout);
  if (only) {
    // Forced, as its annotations are what tells a scaling from a rollout: left old, the rollout would never continue.
    await rollout.scale(only, replicasOf(deployment), true);
    return;
  }
  if (isSaturated(deployment, rollout.newest)) {
    for (const replicaSet of rollout.old.filter(isActive)) await rollout.scale(replicaSet, 0);
    return;
  }
  const active = rollout.all.filter(isActive);
  const sizes = isRollingUpdate(deployment)
    ? proportionalSizes(deployment, active)
    : active.map((replicaSet) => ({ replicaSet, size: replicasOf(replicaSet) }));
  for (const { replicaSet, size } of sizes) await rollout.scale(replicaSet, size, true);
};
