import { messageOf } from '../../base/errors.ts';
import { isConditionTrue } from '../../api/meta/conditions.ts';
import { isNotFound } from '../../api/meta/status.ts';
import {
  controllerReference,
  CRON_JOB,
  JOB,
  type Client,
  type CronJob,
  type EventRecorder,
  type Job,
  type Stored,
} from '../../client/index.ts';
import { formatZonedTime } from './zoned-time.ts';

const SCHEDULED_TIMESTAMP = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

/** The name follows from the time: a job that was made before a crash is found, not made again. */
export const jobNameOf = (cronJob: Stored<CronJob>, scheduledMs: number): string =>
  `${cronJob.metadata.name}-${Math.floor(scheduledMs / 60_000)}`;

export const jobFor = (cronJob: Stored<CronJob>, scheduledMs: number): Job => {
  const { metadata, spec } = cronJob.spec!.jobTemplate;
  const timestamp = formatZonedTime(cronJob.spec?.timeZone ?? 'UTC', scheduledMs);
  return {
    metadata: {
      name: jobNameOf(cronJob, scheduledMs),
      labels: { ...metadata?.labels },
      annotations: { ...metadata?.annotations, [SCHEDULED_TIMESTAMP]: timestamp },
      ownerReferences: [controllerReference(CRON_JOB, cronJob)],
    },
    ...(spec && { spec: structuredClone(spec) }),
  };
};

export const finishedConditionOf = ({ status }: Job): 'Complete' | 'Failed' | undefined =>
  (['Complete', 'Failed'] as const).find((type) => isConditionTrue(status?.conditions, type));

export interface JobDeletion {
  readonly client: Client;
  readonly events: EventRecorder;
}

/** Rejects after telling why; one that is gone is deleted. */
export const deleteJob = async (
  { client, events }: JobDeletion,
  cronJob: Stored<CronJob>,
  job: { readonly name: string; readonly uid: string },
): Promise<void> => {
  try {
    await client
      .resource(JOB, cronJob.metadata.namespace)
      .delete(job.name, { propagationPolicy: 'Background', preconditions: { uid: job.uid } });
  } catch (error) {
    if (isNotFound(error)) return;
    events.event(cronJob, 'Warning', 'FailedDelete', `Deleted job: ${messageOf(error)}`);
    throw error;
  }
  events.event(cronJob, 'Normal', 'SuccessfulDelete', `Deleted job ${job.name}`);
};

/** Finished jobs beyond the limits, the oldest first. */
export const surplusJobs = (cronJob: CronJob, jobs: readonly Stored<Job>[]): Stored<Job>[] => {
  const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = cronJob.spec ?? {};
  const beyond = (type: 'Complete' | 'Failed', limit: number | undefined): Stored<Job>[] => {
    const finished = jobs.filter((job) => finishedConditionOf(job) === type).sort(byStart);
    return limit === undefined ? [] : finished.slice(0, Math.max(0, finished.length - limit));
  };
  return [...beyond('Complete', successfulJobsHistoryLimit), ...beyond('Failed', failedJobsHistoryLimit)];
};

const byStart = (a: Stored<Job>, b: Stored<Job>): number => {
  const [left, right] = [a.status?.startTime ?? '~', b.status?.startTime ?? '~'];
  if (left !== right) return left < right ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
};
