import { ReasonError } from '../../base/errors.ts';
import { scaledValue } from '../../api/quantity/int-or-percent.ts';
import type { Deployment } from '../../client/index.ts';

/** "No limit", as the API spells it. */
const INT32_MAX = 2 ** 31 - 1;

export const replicasOf = (object: { spec?: { replicas?: number } }): number => object.spec?.replicas ?? 1;

export const isRollingUpdate = (deployment: Deployment): boolean =>
  deployment.spec?.strategy?.type === 'RollingUpdate';

/** Both at the same time: when both round to zero nothing could move, and one may be unavailable. */
const fenceposts = (deployment: Deployment): { surge: number; unavailable: number } => {
  const { maxSurge = 0, maxUnavailable = 0 } = deployment.spec?.strategy?.rollingUpdate ?? {};
  const total = replicasOf(deployment);
  const surge = scaledValue(maxSurge, { total, roundUp: true });
  const unavailable = scaledValue(maxUnavailable, { total, roundUp: false });
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
};

export const maxSurgeOf = (deployment: Deployment): number =>
  isRollingUpdate(deployment) ? fenceposts(deployment).surge : 0;

export const maxUnavailableOf = (deployment: Deployment): number =>
  isRollingUpdate(deployment) ? Math.min(fenceposts(deployment).unavailable, replicasOf(deployment)) : 0;

/** Size that the newest replica set may have, where all together have `totalReplicas`. */
export const newReplicaSetSize = (
  deployment: Deployment,
  sizes: { readonly current: number; readonly totalReplicas: number },
): number => {
  const wanted = replicasOf(deployment);
  switch (deployment.spec?.strategy?.type ?? '') {
    case 'Recreate':
      return wanted;
    case 'RollingUpdate': {
      const room = wanted + maxSurgeOf(deployment) - sizes.totalReplicas;
      return room <= 0 ? sizes.current : sizes.current + Math.min(room, wanted - sizes.current);
    }
    default:
      throw new ReasonError(
        'UnknownStrategy',
        `deployment type ${deployment.spec?.strategy?.type} isn't supported`,
      );
  }
};

export const progressDeadlineMs = (deployment: Deployment): number | undefined => {
  const seconds = deployment.spec?.progressDeadlineSeconds;
  return seconds === undefined || seconds === INT32_MAX ? undefined : seconds * 1000;
};

export const historyLimitOf = (deployment: Deployment): number | undefined => {
  const limit = deployment.spec?.revisionHistoryLimit;
  return limit === INT32_MAX ? undefined : limit;
};
