import type { V1StatefulSetStatus } from '../../api/schema/index.ts';
import { isPodAvailable, isPodReady, type Pod, type Stored } from '../../client/index.ts';
import { compactStatus } from '../workloads/status.ts';
import { replicasOf, revisionOf, type StoredSet } from './identity.ts';

/** Zero is written for these: required, or upstream always writes it. */
export const STATUS_ZEROS = ['replicas', 'availableReplicas', 'collisionCount'] as const;

export interface Revisions {
  readonly current: string;
  readonly update: string;
  readonly collisionCount: number;
}

export const isRunningAndReady = (pod: Pod): boolean => pod.status?.phase === 'Running' && isPodReady(pod);

/** Counts; `deleted` are pods of the current revision that this very look has deleted. */
export const setStatus = (
  set: StoredSet,
  pods: readonly Stored<Pod>[],
  options: { readonly revisions: Revisions; readonly nowMs: number; readonly deletedCount: number },
): V1StatefulSetStatus => {
  const { revisions, nowMs } = options;
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const staying = pods.filter(({ metadata }) => !metadata.deletionTimestamp);
  const ofRevision = (revision: string): number =>
    staying.filter((pod) => revisionOf(pod) === revision).length;
  const ready = pods.filter(isRunningAndReady);
  const status: V1StatefulSetStatus = {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: pods.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isPodAvailable(pod, minReadySeconds, nowMs)).length,
    currentReplicas: Math.max(0, ofRevision(revisions.current) - options.deletedCount),
    updatedReplicas: ofRevision(revisions.update),
    currentRevision: revisions.current,
    updateRevision: revisions.update,
    collisionCount: revisions.collisionCount,
    ...(set.status?.conditions && { conditions: set.status.conditions }),
  };
  const isUpdated = [status.updatedReplicas, status.readyReplicas, status.replicas].every(
    (count) => count === replicasOf(set),
  );
  if (isUpdated) {
    status.currentReplicas = status.updatedReplicas!;
    status.currentRevision = revisions.update;
  }
  return compactStatus(status, STATUS_ZEROS);
};
