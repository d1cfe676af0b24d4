import { objectKey } from '../../api/meta/object-meta.ts';
import { findCondition } from '../../api/meta/conditions.ts';
import { isNotFound } from '../../api/meta/status.ts';
import { parseTime } from '../../api/meta/time.ts';
import { JOB, type HandlerResult, type Job, type Stored } from '../../client/index.ts';
import type { Controller, ControllerContext } from '../runtime/controller.ts';
import { keyedController } from '../workloads/keyed-controller.ts';

/** When a job that ended is to be deleted; undefined while it runs, has no time to live, or is on its way out. */
const expiresAtMs = (job: Stored<Job>): number | undefined => {
  const { ttlSecondsAfterFinished } = job.spec ?? {};
  if (ttlSecondsAfterFinished === undefined || job.metadata.deletionTimestamp) return undefined;
  const finished = (['Complete', 'Failed'] as const)
    .map((type) => findCondition(job.status?.conditions, type))
    .find((condition) => condition?.status === 'True');
  const finishedMs = parseTime(finished?.lastTransitionTime ?? '');
  return finishedMs === undefined ? undefined : finishedMs + ttlSecondsAfterFinished * 1000;
};

/** Deletes jobs some time after they ended, with their pods. */
export const createTtlAfterFinishedController = (context: ControllerContext, workers: number): Controller => {
  const { client, informers, clock } = context;
  const jobs = informers.informer(JOB);
  const { queue, controller } = keyedController(context, {
    queueName: 'ttl_jobs_to_delete',
    workers,
    sync,
  });
  const consider = (job: Stored<Job>): void => {
    if (expiresAtMs(job) !== undefined) queue.add(objectKey(job));
  };
  jobs.addHandler({ added: consider, updated: (_, job) => consider(job) });

  const untilExpired = (job: Stored<Job>): number | undefined => {
    const atMs = expiresAtMs(job);
    return atMs === undefined ? undefined : atMs - clock.nowMs();
  };

  async function sync(key: string): Promise<HandlerResult> {
    const cached = jobs.store.get(key);
    const cachedMs = cached && untilExpired(cached);
    if (!cached || cachedMs === undefined) return;
    if (cachedMs > 0) return { requeueAfterMs: cachedMs };
    // Read again: the TTL may have just been extended, and a deletion cannot be undone.
    const resource = client.resource(JOB, cached.metadata.namespace);
    const job = await resource.find(cached.metadata.name);
    const leftMs = job && untilExpired(job);
    if (!job || leftMs === undefined) return;
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    const { name, uid, resourceVersion } = job.metadata;
    try {
      await resource.delete(name, {
        propagationPolicy: 'Foreground',
        preconditions: { uid, resourceVersion },
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  return controller;
};
