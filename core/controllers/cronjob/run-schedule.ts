import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { isAlreadyExists } from '../../api/meta/status.ts';
import { formatTime, parseTime } from '../../api/meta/time.ts';
import type { V1CronJobStatus } from '../../api/schema/index.ts';
import {
  isControlledBy,
  JOB,
  type CronJob,
  type HandlerResult,
  type Job,
  type Stored,
} from '../../client/index.ts';
import { isNamespaceTerminating } from '../workloads/pod-control.ts';
import { deleteJob, finishedConditionOf, jobFor, jobNameOf, type JobDeletion } from './cronjob-jobs.ts';
import { lastDueTime, untilNextMs } from './missed-times.ts';
import { parseSchedule, type Schedule } from './schedule.ts';
import { isTimeZone } from './zoned-time.ts';

export interface CronContext extends JobDeletion {
  readonly clock: Clock;
}

/** `Thu, 01 Jan 2026 00:00:00 +0000` */
const rfc1123 = (atMs: number): string => new Date(atMs).toUTCString().replace('GMT', '+0000');

/** Takes note of what became of the jobs. */
export const observeJobs = async (
  context: CronContext,
  cronJob: Stored<CronJob>,
  children: readonly Stored<Job>[],
  status: V1CronJobStatus,
): Promise<void> => {
  const { client, events } = context;
  const drop = (uid: string | undefined): void => {
    status.active = status.active?.filter((reference) => reference.uid !== uid) ?? [];
  };
  for (const job of children) {
    const isListed = status.active?.some(({ uid }) => uid === job.metadata.uid) ?? false;
    const finished = finishedConditionOf(job);
    if (!finished && !isListed) {
      const message = `Saw a job that the controller did not create or forgot: ${job.metadata.name}`;
      events.event(cronJob, 'Warning', 'UnexpectedJob', message);
    }
    if (finished && isListed) {
      drop(job.metadata.uid);
      const message = `Saw completed job: ${job.metadata.name}, condition: ${finished}`;
      events.event(cronJob, 'Normal', 'SawCompletedJob', message);
    }
    const completedMs = finished === 'Complete' && parseTime(job.status?.completionTime ?? '');
    if (completedMs && completedMs > (parseTime(status.lastSuccessfulTime ?? '') ?? 0))
      status.lastSuccessfulTime = formatTime(completedMs);
  }
  for (const { name = '', uid } of [...(status.active ?? [])]) {
    if (children.some((job) => job.metadata.uid === uid)) continue;
    // The cache may be behind: only the server knows.
    const job = await client.resource(JOB, cronJob.metadata.namespace).find(name);
    if (job?.metadata.uid === uid) continue;
    events.event(cronJob, 'Normal', 'MissingJob', `Active job went missing: ${name}`);
    drop(uid);
  }
};

const scheduleOf = ({ events }: CronContext, cronJob: Stored<CronJob>): Schedule | undefined => {
  const { schedule = '', timeZone, suspend } = cronJob.spec ?? {};
  const warn = (reason: string, message: string): void => events.event(cronJob, 'Warning', reason, message);
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    warn('UnknownTimeZone', `invalid timeZone: "${timeZone}": unknown time zone ${timeZone}`);
    return undefined;
  }
  if (suspend) return undefined;
  if (schedule.includes('TZ'))
    warn(
      'UnsupportedSchedule',
      `CRON_TZ or TZ used in schedule "${schedule}" is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details`,
    );
  const parsed = parseSchedule(schedule, timeZone);
  if ('schedule' in parsed) return parsed.schedule;
  warn('UnparseableSchedule', `unparseable schedule: "${schedule}" : ${parsed.error}`);
  return undefined;
};

/** Whether the job of that time is to be made now; tells why not. */
const mayStart = (
  { events, clock }: CronContext,
  cronJob: Stored<CronJob>,
  status: V1CronJobStatus,
  dueMs: number,
): boolean => {
  const { startingDeadlineSeconds, concurrencyPolicy } = cronJob.spec ?? {};
  if (startingDeadlineSeconds !== undefined && dueMs + startingDeadlineSeconds * 1000 < clock.nowMs()) {
    const message = `Missed scheduled time to start a job: ${rfc1123(dueMs)}`;
    events.event(cronJob, 'Warning', 'MissSchedule', message);
    return false;
  }
  const active = status.active ?? [];
  const isMade = active.some(({ name }) => name === jobNameOf(cronJob, dueMs));
  if (isMade || parseTime(status.lastScheduleTime ?? '') === dueMs) return false;
  if (concurrencyPolicy === 'Forbid' && active.length > 0) {
    const message = 'Not starting job because prior execution is running and concurrency policy is Forbid';
    events.event(cronJob, 'Normal', 'JobAlreadyActive', message);
    return false;
  }
  return true;
};

const startJob = async (
  context: CronContext,
  cronJob: Stored<CronJob>,
  status: V1CronJobStatus,
  dueMs: number,
): Promise<void> => {
  const { client, events } = context;
  if (cronJob.spec?.concurrencyPolicy === 'Replace') {
    for (const { name = '', uid = '' } of status.active ?? [])
      await deleteJob(context, cronJob, { name, uid });
    status.active = [];
  }
  const resource = client.resource(JOB, cronJob.metadata.namespace);
  const wanted = jobFor(cronJob, dueMs);
  let job: Stored<Job>;
  try {
    job = await resource.create(wanted);
    events.event(cronJob, 'Normal', 'SuccessfulCreate', `Created job ${job.metadata.name}`);
  } catch (error) {
    if (isNamespaceTerminating(error)) throw error;
    if (!isAlreadyExists(error)) {
      events.event(cronJob, 'Warning', 'FailedCreate', `Error creating job: ${messageOf(error)}`);
      throw error;
    }
    job = await resource.get(jobNameOf(cronJob, dueMs));
    if (!isControlledBy(job, cronJob)) return;
  }
  const { name, uid, namespace, resourceVersion } = job.metadata;
  const reference = { apiVersion: 'batch/v1', kind: 'Job', name, uid, resourceVersion };
  if (!finishedConditionOf(job))
    status.active = [...(status.active ?? []), { ...reference, ...(namespace && { namespace }) }];
  status.lastScheduleTime = formatTime(dueMs);
};

/** Makes the job that is due, if one is; resolves with when to look again. */
export const runSchedule = async (
  context: CronContext,
  cronJob: Stored<CronJob>,
  status: V1CronJobStatus,
): Promise<HandlerResult> => {
  const schedule = cronJob.metadata.deletionTimestamp ? undefined : scheduleOf(context, cronJob);
  if (!schedule) return;
  const nowMs = context.clock.nowMs();
  const { dueMs, missed } = lastDueTime(cronJob, schedule, { nowMs, withDeadline: true });
  if (dueMs !== undefined) {
    if (missed === 'many') {
      const message =
        'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';
      context.events.event(cronJob, 'Warning', 'TooManyMissedTimes', message);
    }
    if (mayStart(context, cronJob, status, dueMs)) await startJob(context, cronJob, status, dueMs);
  }
  const requeueAfterMs = untilNextMs({ ...cronJob, status }, schedule, nowMs);
  return requeueAfterMs === undefined ? undefined : { requeueAfterMs };
};
