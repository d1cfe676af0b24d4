import { objectKey } from '../../api/meta/object-meta.ts';
import { isNotFound } from '../../api/meta/status.ts';
import type { V1Container, V1PodTemplateSpec } from '../../api/schema/index.ts';
import {
  compareForDeletion,
  controllerReference,
  isPodReady,
  isPodTerminal,
  JOB,
  POD,
  slowStart,
  type Job,
  type Pod,
  type Stored,
  type UidTrackingExpectations,
} from '../../client/index.ts';
import {
  createPod,
  deletePod,
  isNamespaceTerminating,
  podFromTemplate,
  type PodControl,
} from '../workloads/pod-control.ts';
import { untilIndexRetryMs, untilRetryMs } from './backoff.ts';
import { judgeFailure } from './failure-policy.ts';
import { firstMissing, indexesOf, NO_INDEXES, union } from './index-set.ts';
import type { JobLook } from './job-look.ts';
import {
  COMPLETION_INDEX,
  completionIndexOf,
  completionsOf,
  FINALIZER_REMOVAL,
  hasBackoffLimitPerIndex,
  hasTrackingFinalizer,
  INDEX_FAILURE_COUNT,
  INDEX_IGNORED_FAILURE_COUNT,
  indexFailuresOf,
  isIndexed,
  isSuspended,
  parallelismOf,
  replacesOnlyFailed,
  TRACKING_FINALIZER,
} from './job-spec.ts';

/** Upstream's MaxPodCreateDeletePerSync. */
const PODS_PER_SYNC_MAX = 500;
/** What leaves room for five random letters in a name of 63. */
const GENERATE_NAME_LENGTH_MAX = 58;
const INDEX_ENV = 'JOB_COMPLETION_INDEX';

export interface JobPodsOptions extends PodControl {
  readonly expectations: UidTrackingExpectations;
  readonly nowMs: number;
}

export interface ManageResult {
  /** The first failure; all else was tried. */
  readonly error: unknown;
  /** Pods wait for the end of a pause. */
  readonly retryAfterMs?: number;
}

const DONE: ManageResult = { error: undefined };

const withIndexEnv = (container: V1Container): V1Container =>
  container.env?.some(({ name }) => name === INDEX_ENV)
    ? container
    : {
        ...container,
        env: [
          ...(container.env ?? []),
          {
            name: INDEX_ENV,
            valueFrom: { fieldRef: { fieldPath: `metadata.labels['${COMPLETION_INDEX}']` } },
          },
        ],
      };

const failureAnnotations = (job: Job, replaced: Pod | undefined): Record<string, string> => {
  const before = replaced ? indexFailuresOf(replaced) : { counted: 0, ignored: 0 };
  const isCounted = replaced !== undefined && judgeFailure(job, replaced).isCounted;
  const ignored = before.ignored + Number(replaced !== undefined && !isCounted);
  return {
    [INDEX_FAILURE_COUNT]: String(before.counted + Number(isCounted)),
    ...(ignored > 0 && { [INDEX_IGNORED_FAILURE_COUNT]: String(ignored) }),
  };
};

const indexedTemplate = (look: JobLook, template: V1PodTemplateSpec, index: number): V1PodTemplateSpec => {
  const { job } = look;
  const { metadata, spec } = template;
  const failures = hasBackoffLimitPerIndex(job)
    ? failureAnnotations(job, look.awaitingReplacement.get(index))
    : {};
  return {
    metadata: {
      ...metadata,
      labels: { ...metadata?.labels, [COMPLETION_INDEX]: String(index) },
      annotations: { ...metadata?.annotations, [COMPLETION_INDEX]: String(index), ...failures },
    },
    spec: {
      ...spec!,
      hostname: `${job.metadata.name}-${index}`,
      containers: spec!.containers.map(withIndexEnv),
      ...(spec!.initContainers && { initContainers: spec!.initContainers.map(withIndexEnv) }),
    },
  };
};

const indexedNamePrefix = (job: string, index: number): string => {
  const suffix = `-${index}-`;
  return `${job.slice(0, GENERATE_NAME_LENGTH_MAX - suffix.length)}${suffix}`;
};

/** The pod of an index, or one like all others. */
const podOf = (look: JobLook, index: number | undefined): Pod => {
  const { job } = look;
  const { template } = job.spec!;
  const whole = index === undefined ? template : indexedTemplate(look, template, index);
  const pod = podFromTemplate(whole, job.metadata.name, controllerReference(JOB, job));
  const finalizers = pod.metadata?.finalizers ?? [];
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(index !== undefined && { generateName: indexedNamePrefix(job.metadata.name, index) }),
      finalizers: finalizers.includes(TRACKING_FINALIZER) ? finalizers : [...finalizers, TRACKING_FINALIZER],
    },
  };
};

const createPods = async (
  options: JobPodsOptions,
  look: JobLook,
  pods: readonly (number | undefined)[],
): Promise<ManageResult> => {
  const { expectations } = options;
  expectations.expectCreations(look.key, pods.length);
  const { succeeded, error } = await slowStart(pods.length, async (i) => {
    try {
      await createPod(options, look.job, podOf(look, pods[i]));
    } catch (failure) {
      if (!isNamespaceTerminating(failure)) throw failure;
    }
  });
  for (let skipped = succeeded; skipped < pods.length; skipped += 1) expectations.creationObserved(look.key);
  look.activeCount += succeeded;
  return { error };
};

const countDeleted = (look: JobLook, pod: Stored<Pod>): void => {
  look.activeCount -= 1;
  look.terminatingCount += 1;
  if (isPodReady(pod)) look.readyCount -= 1;
};

const firstFailure = (results: readonly PromiseSettledResult<unknown>[]): unknown =>
  results.find((result) => result.status === 'rejected')?.reason;

/** Deletes pods that are not to be counted: their finalizer goes first. */
const withdrawPods = async (
  options: JobPodsOptions,
  look: JobLook,
  pods: readonly Stored<Pod>[],
): Promise<ManageResult> => {
  const { client, expectations } = options;
  expectations.expectDeletions(look.key, pods.map(objectKey));
  const results = await Promise.allSettled(
    pods.map(async (pod) => {
      let isAnnounced = false;
      try {
        if (hasTrackingFinalizer(pod)) await releasePod(client, pod);
        isAnnounced = await deletePod(options, look.job, pod);
        countDeleted(look, pod);
      } finally {
        if (!isAnnounced) expectations.deletionObserved(look.key, objectKey(pod));
      }
    }),
  );
  return { error: firstFailure(results) };
};

/** Takes the finalizer off; a pod that is gone is as good. */
export const releasePod = async (client: JobPodsOptions['client'], pod: Stored<Pod>): Promise<void> => {
  try {
    await client.resource(POD, pod.metadata.namespace).patch(pod.metadata.name, FINALIZER_REMOVAL);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
};

/** Deletes all that runs, since the job is over; their end is still counted. */
export const stopPods = async (options: JobPodsOptions, look: JobLook): Promise<ManageResult> => {
  const results = await Promise.allSettled(
    look.active.map(async (pod) => {
      await deletePod(options, look.job, pod);
      countDeleted(look, pod);
    }),
  );
  return { error: firstFailure(results) };
};

/** At least `count`, the least worth first; with indexes also those that have none of their own. */
const surplusPods = (look: JobLook, count: number, nowMs: number): Stored<Pod>[] => {
  const worth = (a: Pod, b: Pod): number => compareForDeletion(a, b, { nowMs });
  if (!isIndexed(look.job)) return [...look.active].sort(worth).slice(0, count);
  const best = new Map<number, Stored<Pod>>();
  const surplus: Stored<Pod>[] = [];
  for (const pod of look.active) {
    const index = completionIndexOf(pod);
    if (index === undefined || index >= (completionsOf(look.job) ?? 0)) {
      surplus.push(pod);
      continue;
    }
    const held = best.get(index);
    if (!held) best.set(index, pod);
    else {
      const [less, more] = worth(held, pod) < 0 ? [held, pod] : [pod, held];
      surplus.push(less);
      best.set(index, more);
    }
  }
  const more = [...best.values()].sort(worth).slice(0, Math.max(0, count - surplus.length));
  return [...surplus, ...more];
};

const wantedActive = ({ job, succeeded, activeCount }: JobLook): number => {
  const completions = completionsOf(job);
  if (completions === undefined) return succeeded > 0 ? activeCount : parallelismOf(job);
  return Math.max(0, Math.min(parallelismOf(job), completions - succeeded));
};

const pendingIndexes = (look: JobLook, count: number): number[] => {
  const indexes = (pods: readonly Pod[]) => indexesOf(pods.flatMap((pod) => completionIndexOf(pod) ?? []));
  const leaving = replacesOnlyFailed(look.job)
    ? look.pods.filter((pod) => pod.metadata.deletionTimestamp && !isPodTerminal(pod))
    : [];
  const taken = union(
    union(look.succeededIndexes, look.failedIndexes ?? NO_INDEXES),
    indexes([...look.active, ...leaving]),
  );
  return firstMissing(taken, { count, bound: completionsOf(look.job) ?? 0 });
};

/** Makes or deletes pods towards what the job wants to run now. */
export const manageJobPods = async (options: JobPodsOptions, look: JobLook): Promise<ManageResult> => {
  const { job } = look;
  const { nowMs } = options;
  if (isSuspended(job)) return withdrawPods(options, look, look.active);
  const wanted = wantedActive(look);
  const surplus = surplusPods(look, Math.max(0, look.activeCount - wanted), nowMs);
  if (surplus.length > 0) return withdrawPods(options, look, surplus.slice(0, PODS_PER_SYNC_MAX));
  const awaited = replacesOnlyFailed(job) ? look.terminatingCount : 0;
  const missing = Math.min(wanted - awaited - look.activeCount, PODS_PER_SYNC_MAX);
  if (missing <= 0) return DONE;
  if (!hasBackoffLimitPerIndex(job)) {
    const retryAfterMs = untilRetryMs(look.backoff, nowMs);
    if (retryAfterMs > 0) return { error: undefined, retryAfterMs };
  }
  if (!isIndexed(job))
    return createPods(
      options,
      look,
      Array.from({ length: missing }, () => undefined),
    );
  const indexes = pendingIndexes(look, missing);
  const waits = indexes.map((index) =>
    hasBackoffLimitPerIndex(job) ? untilIndexRetryMs(look.awaitingReplacement.get(index), nowMs) : 0,
  );
  const due = indexes.filter((_, i) => waits[i] === 0);
  const created = due.length > 0 ? await createPods(options, look, due) : DONE;
  const later = waits.filter((waitMs) => waitMs > 0);
  return later.length > 0 ? { ...created, retryAfterMs: Math.min(...later) } : created;
};
