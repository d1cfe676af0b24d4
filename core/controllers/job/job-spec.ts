import { isConditionTrue } from '../../api/meta/conditions.ts';
import type { Job, Pod } from '../../client/index.ts';

export const TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking';
export const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index';
export const INDEX_FAILURE_COUNT = 'batch.kubernetes.io/job-index-failure-count';
export const INDEX_IGNORED_FAILURE_COUNT = 'batch.kubernetes.io/job-index-ignored-failure-count';
const OWN_NAME = 'kubernetes.io/job-controller';
const BACKOFF_LIMIT_DEFAULT = 6;

export const isIndexed = (job: Job): boolean => job.spec?.completionMode === 'Indexed';
export const isSuspended = (job: Job): boolean => job.spec?.suspend === true;
export const parallelismOf = (job: Job): number => job.spec?.parallelism ?? 1;
export const completionsOf = (job: Job): number | undefined => job.spec?.completions;
export const backoffLimitOf = (job: Job): number => job.spec?.backoffLimit ?? BACKOFF_LIMIT_DEFAULT;
export const hasBackoffLimitPerIndex = (job: Job): boolean => job.spec?.backoffLimitPerIndex !== undefined;

/** Somebody else's: not a field of it is touched. */
export const isManagedElsewhere = (job: Job): boolean => (job.spec?.managedBy ?? OWN_NAME) !== OWN_NAME;

export const isFinished = (job: Job): boolean =>
  isConditionTrue(job.status?.conditions, 'Complete') || isConditionTrue(job.status?.conditions, 'Failed');

/** A pod that is on its way out is replaced only once it has failed. */
export const replacesOnlyFailed = (job: Job): boolean => job.spec?.podReplacementPolicy === 'Failed';

/** Deleted pods count as well, as those of lost nodes never get to say so; unless they are waited for. */
export const isPodFailed = (pod: Pod, job: Job): boolean => {
  const phase = pod.status?.phase;
  if (phase === 'Failed') return true;
  return !replacesOnlyFailed(job) && pod.metadata?.deletionTimestamp !== undefined && phase !== 'Succeeded';
};

export const hasTrackingFinalizer = (pod: Pod): boolean =>
  pod.metadata?.finalizers?.includes(TRACKING_FINALIZER) ?? false;

export const FINALIZER_REMOVAL = {
  type: 'strategic',
  body: { metadata: { '$deleteFromPrimitiveList/finalizers': [TRACKING_FINALIZER] } },
} as const;

/** Undefined when the pod has none, or none that is a number. */
export const completionIndexOf = (pod: Pod): number | undefined => {
  const text = pod.metadata?.annotations?.[COMPLETION_INDEX];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
};

/** The index, if the job has such a one; jobs can be made smaller. */
export const validIndexOf = (pod: Pod, job: Job): number | undefined => {
  const index = completionIndexOf(pod);
  return index !== undefined && index < (completionsOf(job) ?? 0) ? index : undefined;
};

const countIn = (pod: Pod, annotation: string): number => {
  const text = pod.metadata?.annotations?.[annotation];
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : 0;
};

export const indexFailuresOf = (pod: Pod): { readonly counted: number; readonly ignored: number } => ({
  counted: countIn(pod, INDEX_FAILURE_COUNT),
  ignored: countIn(pod, INDEX_IGNORED_FAILURE_COUNT),
});
