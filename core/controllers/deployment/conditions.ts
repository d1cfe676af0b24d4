import { findCondition, withoutCondition } from '../../api/meta/conditions.ts';
import { formatTime } from '../../api/meta/time.ts';
import type { V1DeploymentCondition } from '../../api/schema/index.ts';

export type ProgressReason =
  | 'ReplicaSetUpdated'
  | 'ReplicaSetCreateError'
  | 'NewReplicaSetCreated'
  | 'FoundNewReplicaSet'
  | 'NewReplicaSetAvailable'
  | 'ProgressDeadlineExceeded'
  | 'DeploymentPaused'
  | 'DeploymentResumed';

export type Conditions = readonly V1DeploymentCondition[];

export const progressingOf = (conditions: Conditions | undefined): V1DeploymentCondition | undefined =>
  findCondition(conditions, 'Progressing');

export const progressing = (
  status: 'True' | 'False' | 'Unknown',
  reason: ProgressReason,
  message: string,
  nowMs: number,
): V1DeploymentCondition => {
  const now = formatTime(nowMs);
  return { type: 'Progressing', status, reason, message, lastUpdateTime: now, lastTransitionTime: now };
};

/** One of the same status and reason stays as it is: `lastUpdateTime` tells when something last moved. */
export const withDeploymentCondition = (
  conditions: Conditions | undefined,
  next: V1DeploymentCondition,
): Conditions => {
  const held = findCondition(conditions, next.type);
  if (held?.status === next.status && held.reason === next.reason) return conditions ?? [];
  const { lastTransitionTime } = held?.status === next.status ? held : next;
  return [
    ...withoutCondition(conditions, next.type),
    { ...next, ...(lastTransitionTime !== undefined && { lastTransitionTime }) },
  ];
};

export { withoutCondition };
