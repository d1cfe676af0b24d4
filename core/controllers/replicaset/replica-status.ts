import { findCondition, withoutCondition } from '../../api/meta/conditions.ts';
import { formatTime } from '../../api/meta/time.ts';
import { selectorFromSet } from '../../api/selector/index.ts';
import type { V1ReplicaSetCondition, V1ReplicaSetStatus } from '../../api/schema/index.ts';
import { isPodAvailable, isPodReady, type Pod, type Stored } from '../../client/index.ts';
import { compactStatus } from '../workloads/status.ts';
import type { ReplicaOwner } from './replica-kind.ts';

/** Zero is written for these: the field is required, or a zero says that somebody has counted. */
export const STATUS_ZEROS = ['replicas', 'terminatingReplicas'] as const;

export interface ReplicaCounts {
  readonly active: readonly Stored<Pod>[];
  /** Undefined for kinds whose status does not tell. */
  readonly terminatingCount: number | undefined;
  /** What kept pods from being made or deleted; the message of a condition. */
  readonly failure: string | undefined;
  readonly nowMs: number;
}

const failureConditions = (
  owner: Stored<ReplicaOwner>,
  { active, failure, nowMs }: ReplicaCounts,
): readonly V1ReplicaSetCondition[] => {
  const before = owner.status?.conditions ?? [];
  if (failure === undefined) return withoutCondition(before, 'ReplicaFailure');
  if (findCondition(before, 'ReplicaFailure')) return before;
  const surplus = active.length - (owner.spec?.replicas ?? 1);
  const reason = surplus < 0 ? 'FailedCreate' : surplus > 0 ? 'FailedDelete' : '';
  const condition = {
    type: 'ReplicaFailure',
    status: 'True',
    lastTransitionTime: formatTime(nowMs),
    ...(reason && { reason }),
    message: failure,
  };
  return [...before, condition];
};

export const replicaStatus = (owner: Stored<ReplicaOwner>, counts: ReplicaCounts): V1ReplicaSetStatus => {
  const { active, terminatingCount, nowMs } = counts;
  const minReadySeconds = owner.spec?.minReadySeconds ?? 0;
  const template = selectorFromSet(owner.spec?.template?.metadata?.labels);
  const generation = owner.metadata.generation;
  return compactStatus<V1ReplicaSetStatus>(
    {
      replicas: active.length,
      fullyLabeledReplicas: active.filter(({ metadata }) => template.matches(metadata.labels)).length,
      readyReplicas: active.filter(isPodReady).length,
      availableReplicas: active.filter((pod) => isPodAvailable(pod, minReadySeconds, nowMs)).length,
      ...(terminatingCount !== undefined && { terminatingReplicas: terminatingCount }),
      ...(generation !== undefined && { observedGeneration: generation }),
      conditions: [...failureConditions(owner, counts)],
    },
    STATUS_ZEROS,
  );
};
