import { objectKey } from '../../api/meta/object-meta.ts';
import { NOTHING } from '../../api/selector/label-selector.ts';
import {
  CRON_JOB,
  isControlledBy,
  JOB,
  type CronJob,
  type HandlerResult,
  type Job,
} from '../../client/index.ts';
import type { Controller, ControllerContext } from '../runtime/controller.ts';
import { keyedController } from '../workloads/keyed-controller.ts';
import { ownedEvents } from '../workloads/owned-events.ts';
import { OwnWrites } from '../workloads/own-writes.ts';
import { compactStatus, sameStatus } from '../workloads/status.ts';
import { deleteJob, surplusJobs } from './cronjob-jobs.ts';
import { untilNextMs } from './missed-times.ts';
import { observeJobs, runSchedule } from './run-schedule.ts';
import { parseSchedule } from './schedule.ts';

export const createCronJobController = (context: ControllerContext, workers: number): Controller => {
  const { client, informers, clock } = context;
  const cronJobs = informers.informer(CRON_JOB);
  const jobs = informers.informer(JOB);
  const writes = new OwnWrites();
  const { queue, controller } = keyedController(context, { queueName: 'cronjob', workers, sync });

  cronJobs.addHandler({
    added: (cronJob) => queue.add(objectKey(cronJob)),
    updated(before, cronJob) {
      const isRescheduled =
        before.spec?.schedule !== cronJob.spec?.schedule || before.spec?.timeZone !== cronJob.spec?.timeZone;
      const parsed = parseSchedule(cronJob.spec?.schedule ?? '', cronJob.spec?.timeZone);
      // What the new schedule would have run before the change is not made up for.
      const delayMs =
        isRescheduled && 'schedule' in parsed ? untilNextMs(cronJob, parsed.schedule, clock.nowMs()) : 0;
      queue.addAfter(objectKey(cronJob), delayMs ?? 0);
    },
    deleted: (cronJob) => writes.forget(objectKey(cronJob)),
  });
  jobs.addHandler(
    ownedEvents<CronJob, Job>({
      ownerKind: CRON_JOB,
      owners: cronJobs.store,
      selectorOf: () => NOTHING,
      enqueue: (cronJob) => queue.add(objectKey(cronJob)),
    }),
  );

  async function sync(key: string): Promise<HandlerResult> {
    const cronJob = cronJobs.store.get(key);
    if (!cronJob) return;
    if (!writes.areSeenIn(key, cronJob)) return;
    const status = structuredClone(cronJob.status ?? {});
    const children = jobs.store
      .inNamespace(cronJob.metadata.namespace ?? '')
      .filter((job) => isControlledBy(job, cronJob));
    const write = async (): Promise<void> => {
      if (sameStatus(cronJob.status, status, [])) return;
      const written = await client
        .resource(CRON_JOB, cronJob.metadata.namespace)
        .updateStatus({ ...cronJob, status: compactStatus(status, []) });
      writes.wrote(key, written);
    };
    await observeJobs(context, cronJob, children, status);
    try {
      for (const { metadata } of surplusJobs(cronJob, children)) await deleteJob(context, cronJob, metadata);
      return await runSchedule(context, cronJob, status);
    } finally {
      await write();
    }
  }

  return controller;
};
