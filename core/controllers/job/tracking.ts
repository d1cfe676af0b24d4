import type { V1JobStatus } from '../../api/schema/index.ts';
import {
  canonicalJson,
  JOB,
  type Client,
  type EventRecorder,
  type Pod,
  type Stored,
} from '../../client/index.ts';
import { compactStatus } from '../workloads/status.ts';
import { jobCondition, withJobCondition } from './conditions.ts';
import { judgeFailure } from './failure-policy.ts';
import { countIndexes, formatIndexes, hasIndex, indexesOf, union } from './index-set.ts';
import { hasMetSuccessCriteria, isUncounted, type JobLook } from './job-look.ts';
import { releasePod } from './job-pods.ts';
import {
  completionIndexOf,
  completionsOf,
  hasBackoffLimitPerIndex,
  isIndexed,
  isPodFailed,
  validIndexOf,
} from './job-spec.ts';
import type { ReleasedPods } from './released-pods.ts';

/** Upstream's MaxUncountedPods: keeps the status below about 20 KB. */
const UNCOUNTED_PODS_MAX = 500;
/** Fields whose zero or emptiness is told. */
const KEPT = ['ready', 'terminating', 'failedIndexes', 'uncountedTerminatedPods'] as const;

export interface TrackingOptions {
  readonly client: Client;
  readonly events: EventRecorder;
  readonly released: ReleasedPods;
  readonly nowMs: number;
  onWritten(look: JobLook): void;
}

const writeStatus = async (options: TrackingOptions, look: JobLook): Promise<void> => {
  const { job } = look;
  const status = compactStatus<V1JobStatus>(look.status, KEPT);
  look.job = await options.client.resource(JOB, job.metadata.namespace).updateStatus({ ...job, status });
  look.status = structuredClone(look.job.status ?? {});
  options.onWritten(look);
};

const mayRelease = (look: JobLook, pod: Stored<Pod>): boolean => {
  const { job, finished } = look;
  if (job.metadata.deletionTimestamp || finished || pod.status?.phase === 'Succeeded') return true;
  if (!isPodFailed(pod, job)) return false;
  const index = completionIndexOf(pod);
  if (!hasBackoffLimitPerIndex(job) || index === undefined) return true;
  return look.awaitingReplacement.get(index)?.metadata.uid !== pod.metadata.uid;
};

/** Pods whose finalizer is off are counted for good. */
const countReleased = (status: V1JobStatus, withFinalizer: ReadonlySet<string>): void => {
  const uncounted = status.uncountedTerminatedPods ?? {};
  const split = (uids: readonly string[] = []) => uids.filter((uid) => withFinalizer.has(uid));
  const [succeeded, failed] = [split(uncounted.succeeded), split(uncounted.failed)];
  status.succeeded = (status.succeeded ?? 0) + (uncounted.succeeded?.length ?? 0) - succeeded.length;
  status.failed = (status.failed ?? 0) + (uncounted.failed?.length ?? 0) - failed.length;
  status.uncountedTerminatedPods = {
    ...(succeeded.length > 0 && { succeeded }),
    ...(failed.length > 0 && { failed }),
  };
};

/** Puts pods that ended into the status; answers with those whose finalizer may go, and whether these are all. */
const collectEnded = (look: JobLook): { readonly pods: Stored<Pod>[]; readonly isAll: boolean } => {
  const { job, status, finished } = look;
  const indexed = isIndexed(job);
  const succeeded = [...(status.uncountedTerminatedPods?.succeeded ?? [])];
  const failed = [...(status.uncountedTerminatedPods?.failed ?? [])];
  const newIndexes = new Set<number>();
  const pods: Stored<Pod>[] = [];
  let isAll = true;
  const isFailure = finished !== undefined && finished.type !== 'SuccessCriteriaMet';
  const ordered = indexed
    ? [...look.pods].sort((a, b) => (completionIndexOf(a) ?? -1) - (completionIndexOf(b) ?? -1))
    : look.pods;
  for (const pod of ordered) {
    if (!isUncounted(look, pod) || !mayRelease(look, pod)) continue;
    if (newIndexes.size + succeeded.length + failed.length >= UNCOUNTED_PODS_MAX) {
      isAll = false;
      break;
    }
    pods.push(pod);
    const { uid } = pod.metadata;
    const index = validIndexOf(pod, job);
    if (pod.status?.phase === 'Succeeded' && !failed.includes(uid)) {
      if (!indexed) {
        if (!succeeded.includes(uid)) succeeded.push(uid);
      } else if (index !== undefined && !hasIndex(look.countedIndexes, index)) newIndexes.add(index);
    } else if (isPodFailed(pod, job) || isFailure) {
      const hasPlace = !indexed || index !== undefined;
      if (hasPlace && !failed.includes(uid) && judgeFailure(job, pod).isCounted) failed.push(uid);
    }
  }
  status.uncountedTerminatedPods = {
    ...(succeeded.length > 0 && { succeeded }),
    ...(failed.length > 0 && { failed }),
  };
  if (indexed) {
    look.succeededIndexes = union(look.succeededIndexes, indexesOf(newIndexes));
    status.succeeded = countIndexes(look.succeededIndexes);
    status.completedIndexes = formatIndexes(look.succeededIndexes);
    if (look.failedIndexes) status.failedIndexes = formatIndexes(look.failedIndexes);
    else delete status.failedIndexes;
  }
  return { pods, isAll };
};

/** The interim condition goes into the status before any finalizer goes; `finished` becomes the final one. */
const announceEnd = (look: JobLook, nowMs: number): void => {
  const { finished, status } = look;
  if (!finished) return;
  const isSuccess = finished.type === 'SuccessCriteriaMet';
  if (finished.type === 'FailureTarget' || (isSuccess && !hasMetSuccessCriteria(look)))
    status.conditions = [...(status.conditions ?? []), finished];
  look.finished = jobCondition(isSuccess ? 'Complete' : 'Failed', 'True', finished, nowMs);
};

/** The end is told only when every pod is counted and gone. */
const enactEnd = (look: JobLook): boolean => {
  const { finished, status } = look;
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  if (!finished || succeeded.length + failed.length > 0 || look.terminatingCount > 0) return false;
  const conditions = withJobCondition(status.conditions ?? [], finished);
  if (conditions) status.conditions = conditions;
  if (finished.type === 'Complete' && finished.lastTransitionTime)
    status.completionTime = finished.lastTransitionTime;
  return true;
};

const tellEnd = ({ events }: TrackingOptions, { job, status, finished }: JobLook): void => {
  if (finished?.type !== 'Complete') {
    events.event(job, 'Warning', finished?.reason ?? '', finished?.message ?? '');
    return;
  }
  if ((status.succeeded ?? 0) > (completionsOf(job) ?? Infinity)) {
    const message = 'Too many succeeded pods running after completion count reached';
    events.event(job, 'Warning', 'TooManySucceededPods', message);
  }
  events.event(job, 'Normal', 'Completed', 'Job completed');
};

/** For comparison: an empty list of the uncounted is none. */
const textOf = ({ uncountedTerminatedPods: uncounted, ...status }: V1JobStatus): string =>
  canonicalJson([compactStatus(status, ['ready', 'terminating', 'failedIndexes']), uncounted ?? {}]);

/**
 * Counts pods that ended, each exactly once whatever happens in between:
 * 1. their uids (or indexes) are written into the status;
 * 2. their finalizers are taken off, so that they may be deleted;
 * 3. they move from the list of the uncounted to the counters, with the next write of the status;
 * 4. the job is declared finished when nothing is left to count.
 */
export const trackEnded = async (options: TrackingOptions, look: JobLook): Promise<void> => {
  const { client, released, nowMs } = options;
  const before = textOf(look.job.status ?? {});
  const withFinalizer = new Set(
    look.pods.filter((pod) => isUncounted(look, pod)).map(({ metadata }) => metadata.uid),
  );
  countReleased(look.status, withFinalizer);
  const { pods, isAll } = collectEnded(look);
  announceEnd(look, nowMs);
  if (textOf(look.status) !== before) await writeStatus(options, look);

  const results = await Promise.allSettled(
    pods.map(async (pod) => {
      const { uid } = pod.metadata;
      released.expect(look.key, uid);
      try {
        await releasePod(client, pod);
        withFinalizer.delete(uid);
      } catch (error) {
        released.observed(look.key, uid);
        throw error;
      }
    }),
  );
  const written = textOf(look.status);
  countReleased(look.status, withFinalizer);
  const failure = results.find((result) => result.status === 'rejected');
  const isEnded = !failure && isAll && enactEnd(look);
  if (textOf(look.status) !== written) await writeStatus(options, look);
  if (isEnded) tellEnd(options, look);
  if (failure) throw failure.reason;
};
