import { controllerOf, objectKey } from '../../api/meta/object-meta.ts';
import {
  exponentialLimiter,
  JOB,
  refersToKind,
  resolveController,
  type Job,
  type Pod,
  type Store,
  type Stored,
} from '../../client/index.ts';
import type { Controller, ControllerContext } from '../runtime/controller.ts';
import { keyedController } from '../workloads/keyed-controller.ts';
import { releasePod } from './job-pods.ts';
import { hasTrackingFinalizer, isFinished, isManagedElsewhere } from './job-spec.ts';

const RETRY_BASE_MS = 1000;
const RETRY_MS_MAX = 60_000;

/** Pods that no job will count any more, but that still wait to be counted: their finalizer holds them for ever. */
export const createOrphanPods = (
  context: ControllerContext,
  options: { readonly jobs: Store<Job>; readonly pods: Store<Pod>; readonly workers: number },
): { readonly controller: Controller; consider(pod: Stored<Pod>): void } => {
  const { jobs, pods } = options;
  const isOrphan = (pod: Stored<Pod>): boolean => {
    const reference = controllerOf(pod);
    if (!reference) return true;
    if (!refersToKind(reference, JOB)) return false;
    const job = resolveController(jobs, JOB, pod);
    return !job || (isFinished(job) && !isManagedElsewhere(job));
  };
  const { queue, controller } = keyedController(context, {
    queueName: 'job_orphan_pod',
    workers: options.workers,
    rateLimiter: exponentialLimiter(RETRY_BASE_MS, RETRY_MS_MAX),
    // Asked again here, where all informers are filled.
    async sync(key) {
      const pod = pods.get(key);
      if (pod && hasTrackingFinalizer(pod) && isOrphan(pod)) await releasePod(context.client, pod);
    },
  });
  return {
    controller,
    consider(pod) {
      if (hasTrackingFinalizer(pod) && isOrphan(pod)) queue.add(objectKey(pod));
    },
  };
};
