import { controllerOf, objectKey } from '../../api/meta/object-meta.ts';
import { formatTime } from '../../api/meta/time.ts';
import { selectorFromObject } from '../../api/selector/index.ts';
import {
  claimObjects,
  exponentialLimiter,
  JOB,
  POD,
  UidTrackingExpectations,
  type HandlerResult,
  type Job,
  type Pod,
  type Stored,
} from '../../client/index.ts';
import type { Controller, ControllerContext } from '../runtime/controller.ts';
import { keyedController } from '../workloads/keyed-controller.ts';
import { ownedEvents } from '../workloads/owned-events.ts';
import { OwnWrites } from '../workloads/own-writes.ts';
import { POD_INDEXERS, podsControlledBy, podsFor } from '../workloads/pod-index.ts';
import type { BackoffRecord } from './backoff.ts';
import { jobCondition, withJobCondition } from './conditions.ts';
import { lookAt, type JobLook } from './job-look.ts';
import { manageJobPods, stopPods, type ManageResult } from './job-pods.ts';
import {
  hasTrackingFinalizer,
  isFinished,
  isManagedElsewhere,
  isSuspended,
  TRACKING_FINALIZER,
} from './job-spec.ts';
import { createOrphanPods } from './orphan-pods.ts';
import { ReleasedPods } from './released-pods.ts';
import { trackEnded } from './tracking.ts';
import { completedCondition, isCompleted, untilDeadlineMs, verdictOn } from './verdict.ts';

/** Upstream's SyncJobBatchPeriod: what happens to pods within a second is looked at together. */
const BATCH_MS = 1000;
const RETRY_BASE_MS = 1000;
const RETRY_MS_MAX = 60_000;

const MODES = new Set([undefined, 'NonIndexed', 'Indexed']);

/** A pod that was adopted a moment ago has a finalizer that the cache does not show. */
const withAdoption = (pod: Stored<Pod>): Stored<Pod> =>
  controllerOf(pod) || hasTrackingFinalizer(pod)
    ? pod
    : {
        ...pod,
        metadata: {
          ...pod.metadata,
          finalizers: [...(pod.metadata.finalizers ?? []), TRACKING_FINALIZER],
        },
      };

export const createJobController = (context: ControllerContext, workers: number): Controller => {
  const { client, informers, events, clock } = context;
  const jobs = informers.informer(JOB);
  const pods = informers.informer(POD, { indexers: POD_INDEXERS });
  const expectations = new UidTrackingExpectations(clock);
  const released = new ReleasedPods();
  const writes = new OwnWrites();
  const backoffs = new Map<string, BackoffRecord>();
  const { queue, controller } = keyedController(context, {
    queueName: 'job',
    workers,
    rateLimiter: exponentialLimiter(RETRY_BASE_MS, RETRY_MS_MAX),
    sync,
  });
  const orphans = createOrphanPods(context, { jobs: jobs.store, pods: pods.store, workers });

  const forget = (key: string): void => {
    expectations.forget(key);
    released.forget(key);
    writes.forget(key);
    backoffs.delete(key);
  };
  const considerPodsOf = (job: Stored<Job>): void => {
    for (const pod of podsControlledBy(pods.store, job)) orphans.consider(pod);
  };

  jobs.addHandler({
    added: (job) => queue.add(objectKey(job)),
    updated(before, job) {
      if (before.metadata.uid !== job.metadata.uid) {
        forget(objectKey(before));
        considerPodsOf(before);
      }
      if (isFinished(job)) considerPodsOf(job);
      const isSpecChanged = before.metadata.generation !== job.metadata.generation;
      queue.addAfter(objectKey(job), isSpecChanged ? 0 : BATCH_MS);
    },
    deleted(job) {
      forget(objectKey(job));
      considerPodsOf(job);
    },
  });
  const observeRelease = (key: string, pod: Stored<Pod>): void => {
    if (!hasTrackingFinalizer(pod)) released.observed(key, pod.metadata.uid);
  };
  const owned = ownedEvents<Job, Pod>({
    ownerKind: JOB,
    owners: jobs.store,
    selectorOf: (job) => selectorFromObject(job.spec?.selector),
    enqueue: (job) => queue.addAfter(objectKey(job), BATCH_MS),
    onCreated: (key) => expectations.creationObserved(key),
    onUpdated: (job, _, pod) => observeRelease(objectKey(job), pod),
    onDeleted(key, pod) {
      expectations.deletionObserved(key, objectKey(pod));
      observeRelease(key, pod);
    },
  });
  pods.addHandler({
    added(pod, info) {
      owned.added?.(pod, info);
      orphans.consider(pod);
    },
    updated(before, pod) {
      owned.updated?.(before, pod);
      orphans.consider(pod);
    },
    deleted(pod, info) {
      owned.deleted?.(pod, info);
      const owner = controllerOf(pod);
      if (owner) released.observed(`${pod.metadata.namespace ?? ''}/${owner.name}`, pod.metadata.uid);
    },
  });

  const podsOf = async (job: Stored<Job>): Promise<Stored<Pod>[]> => {
    const claimed = await claimObjects({
      client,
      owner: job,
      ownerKind: JOB,
      kind: POD,
      selector: selectorFromObject(job.spec?.selector),
      objects: podsFor(pods.store, job),
      finalizers: [TRACKING_FINALIZER],
    });
    return claimed.map(withAdoption);
  };

  const syncSuspension = (look: JobLook, nowMs: number): void => {
    const { job, status } = look;
    const condition = isSuspended(job)
      ? jobCondition('Suspended', 'True', { reason: 'JobSuspended', message: 'Job suspended' }, nowMs)
      : jobCondition('Suspended', 'False', { reason: 'JobResumed', message: 'Job resumed' }, nowMs);
    const conditions = withJobCondition(status.conditions ?? [], condition);
    if (!conditions) return;
    status.conditions = conditions;
    if (isSuspended(job)) {
      events.event(job, 'Normal', 'Suspended', 'Job suspended');
      delete status.startTime;
    } else {
      events.event(job, 'Normal', 'Resumed', 'Job resumed');
      // The deadline counts the time without a break.
      status.startTime = formatTime(nowMs);
    }
  };

  /** Makes, deletes or stops pods, and decides whether the job is over. */
  const act = async (look: JobLook, mayManage: boolean): Promise<ManageResult> => {
    const nowMs = clock.nowMs();
    const options = { client, events, expectations, nowMs };
    look.finished = verdictOn(look, nowMs);
    if (look.finished) {
      const result = await stopPods(options, look);
      // Pods that still run, or that the cache does not show yet, are to be counted first.
      if (look.activeCount > 0 || !mayManage) look.finished = undefined;
      return result;
    }
    const isManaged = mayManage && !look.job.metadata.deletionTimestamp;
    const result = isManaged ? await manageJobPods(options, look) : { error: undefined };
    if (isCompleted(look)) look.finished = completedCondition(nowMs);
    else if (isManaged) syncSuspension(look, nowMs);
    return result;
  };

  async function sync(key: string): Promise<HandlerResult> {
    const job = jobs.store.get(key);
    if (!job || isManagedElsewhere(job)) return forget(key);
    if (isFinished(job)) return forget(key);
    if (!writes.areSeenIn(key, job)) return;
    if (!MODES.has(job.spec?.completionMode)) {
      const message = 'Skipped Job sync because completion mode is unknown';
      events.event(job, 'Warning', 'UnknownCompletionMode', message);
      return;
    }
    const mayManage = expectations.satisfied(key);
    const look = lookAt({
      key,
      job,
      pods: await podsOf(job),
      released: released.of(key),
      backoff: backoffs.get(key),
    });
    const { status } = look;
    if (status.startTime === undefined && !isSuspended(job)) status.startTime = formatTime(clock.nowMs());
    const result = await act(look, mayManage);
    status.active = look.activeCount;
    status.ready = look.readyCount;
    status.terminating = look.terminatingCount;
    await trackEnded(
      {
        client,
        events,
        released,
        nowMs: clock.nowMs(),
        onWritten(written) {
          writes.wrote(key, written.job);
          // Only now: what is not written is found as new again.
          backoffs.set(key, look.backoff);
        },
      },
      look,
    );
    if (result.error !== undefined) throw result.error;
    const deadlineMs = look.finished ? undefined : untilDeadlineMs(look, clock.nowMs());
    const retryMs = result.retryAfterMs && Math.max(BATCH_MS, result.retryAfterMs);
    const waitsMs = [deadlineMs, retryMs].filter((waitMs) => waitMs !== undefined);
    return waitsMs.length > 0 ? { requeueAfterMs: Math.max(0, Math.min(...waitsMs)) } : undefined;
  }

  return {
    async run(signal) {
      await Promise.all([controller.run(signal), orphans.controller.run(signal)]);
    },
  };
};
