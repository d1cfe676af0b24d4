import type { V1JobCondition, V1JobStatus } from '../../api/schema/index.ts';
import { isConditionTrue } from '../../api/meta/conditions.ts';
import {
  isPodActive,
  isPodReady,
  isPodTerminal,
  type Job,
  type Pod,
  type Stored,
} from '../../client/index.ts';
import { nextBackoff, type BackoffRecord } from './backoff.ts';
import { judgeFailure } from './failure-policy.ts';
import {
  countIndexes,
  hasIndex,
  indexesOf,
  NO_INDEXES,
  parseIndexes,
  union,
  type IndexSet,
} from './index-set.ts';
import {
  completionIndexOf,
  completionsOf,
  hasBackoffLimitPerIndex,
  hasTrackingFinalizer,
  indexFailuresOf,
  isIndexed,
  isPodFailed,
  validIndexOf,
} from './job-spec.ts';
import { endedAtMs } from './backoff.ts';

/** One look at a job with its pods, and what was found. `job` and `status` move on with each write. */
export interface JobLook {
  readonly key: string;
  job: Stored<Job>;
  status: V1JobStatus;
  readonly pods: readonly Stored<Pod>[];
  readonly active: readonly Stored<Pod>[];
  /** Pods whose finalizer was taken off already, though the cache does not show it. */
  readonly released: ReadonlySet<string>;
  readonly succeeded: number;
  readonly failed: number;
  readonly countedIndexes: IndexSet;
  succeededIndexes: IndexSet;
  /** Only with a limit per index. */
  readonly failedIndexes: IndexSet | undefined;
  /** Failed pods that stay until their replacement carries on their count. */
  readonly awaitingReplacement: ReadonlyMap<number, Stored<Pod>>;
  readonly backoff: BackoffRecord;
  finished: V1JobCondition | undefined;
  activeCount: number;
  readyCount: number;
  terminatingCount: number;
}

/** Its end is not in the status yet. */
export const isUncounted = (look: Pick<JobLook, 'released'>, pod: Stored<Pod>): boolean =>
  hasTrackingFinalizer(pod) && !look.released.has(pod.metadata.uid);

const isIndexFailed = (job: Job, pod: Pod): boolean => {
  if (!isPodFailed(pod, job)) return false;
  const { action, isCounted } = judgeFailure(job, pod);
  if (action === 'FailIndex') return true;
  return isCounted && indexFailuresOf(pod).counted >= (job.spec?.backoffLimitPerIndex ?? 0);
};

const podIndexes = (pods: readonly Pod[]): IndexSet =>
  indexesOf(pods.flatMap((pod) => completionIndexOf(pod) ?? []));

/** The last to fail of each index that is to be tried again. */
const awaitingReplacement = (
  job: Job,
  failedPods: readonly Stored<Pod>[],
  settled: IndexSet,
): Map<number, Stored<Pod>> => {
  const latest = new Map<number, Stored<Pod>>();
  const failures = (pod: Pod): number => indexFailuresOf(pod).counted + indexFailuresOf(pod).ignored;
  for (const pod of failedPods) {
    const index = validIndexOf(pod, job);
    if (index === undefined || hasIndex(settled, index)) continue;
    const held = latest.get(index);
    if (!held || (failures(held) <= failures(pod) && endedAtMs(pod) >= endedAtMs(held)))
      latest.set(index, pod);
  }
  return latest;
};

export const lookAt = (options: {
  readonly key: string;
  readonly job: Stored<Job>;
  readonly pods: readonly Stored<Pod>[];
  readonly released: ReadonlySet<string>;
  readonly backoff: BackoffRecord | undefined;
}): JobLook => {
  const { key, job, pods, released } = options;
  const status = structuredClone(job.status ?? {});
  const uncounted = status.uncountedTerminatedPods ?? {};
  const indexed = isIndexed(job);
  const bound = completionsOf(job) ?? 0;
  const valid = pods.filter(
    (pod) => isUncounted(options, pod) && (!indexed || validIndexOf(pod, job) !== undefined),
  );
  const isKnown = (list: readonly string[] | undefined, pod: Stored<Pod>): boolean =>
    list?.includes(pod.metadata.uid) ?? false;
  const newSucceeded = valid.filter(
    (pod) => pod.status?.phase === 'Succeeded' && !isKnown(uncounted.succeeded, pod),
  );
  const failedPods = valid.filter((pod) => isPodFailed(pod, job));
  const newFailed = failedPods.filter((pod) => !isKnown(uncounted.failed, pod));
  const active = pods.filter(isPodActive);

  const countedIndexes = indexed ? parseIndexes(status.completedIndexes, bound) : NO_INDEXES;
  const finishedIndexes = pods.flatMap((pod) =>
    pod.status?.phase === 'Succeeded' && hasTrackingFinalizer(pod) ? (validIndexOf(pod, job) ?? []) : [],
  );
  const succeededIndexes = indexed ? union(countedIndexes, indexesOf(finishedIndexes)) : NO_INDEXES;
  const perIndex = indexed && hasBackoffLimitPerIndex(job);
  const failedIndexes = perIndex
    ? union(
        parseIndexes(status.failedIndexes, bound),
        indexesOf(
          pods.flatMap((pod) =>
            hasTrackingFinalizer(pod) && isIndexFailed(job, pod) ? (validIndexOf(pod, job) ?? []) : [],
          ),
        ),
      )
    : undefined;
  const settled = union(union(succeededIndexes, failedIndexes ?? NO_INDEXES), podIndexes(active));
  return {
    key,
    job,
    status,
    pods,
    active,
    released,
    succeeded: indexed
      ? countIndexes(succeededIndexes)
      : (status.succeeded ?? 0) + newSucceeded.length + (uncounted.succeeded?.length ?? 0),
    failed:
      (status.failed ?? 0) +
      newFailed.filter((pod) => judgeFailure(job, pod).isCounted).length +
      (uncounted.failed?.length ?? 0),
    countedIndexes,
    succeededIndexes,
    failedIndexes,
    awaitingReplacement: perIndex ? awaitingReplacement(job, failedPods, settled) : new Map(),
    backoff: nextBackoff(options.backoff, newSucceeded, newFailed),
    finished: undefined,
    activeCount: active.length,
    readyCount: active.filter(isPodReady).length,
    terminatingCount: pods.filter((pod) => pod.metadata.deletionTimestamp && !isPodTerminal(pod)).length,
  };
};

/** The restarts of pods that restart in place count as failures. */
export const restartsExceed = (job: Job, pods: readonly Pod[], limit: number): boolean => {
  if (job.spec?.template.spec?.restartPolicy !== 'OnFailure') return false;
  const restarts = pods
    .filter(({ status }) => status?.phase === 'Running' || status?.phase === 'Pending')
    .flatMap(({ status }) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])])
    .reduce((sum, { restartCount }) => sum + restartCount, 0);
  return limit === 0 ? restarts > 0 : restarts >= limit;
};

export const hasMetSuccessCriteria = ({ status }: JobLook): boolean =>
  isConditionTrue(status.conditions, 'SuccessCriteriaMet');
