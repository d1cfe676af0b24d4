import { parseTime } from '../../api/meta/time.ts';
import type { CronJob } from '../../client/index.ts';
import type { Schedule } from './schedule.ts';

/** More than these may be a wrong clock: told, though the last of them is run. */
const MISSED_TIMES_MAX = 100;
/** Just after the time, not just before it. */
const NEXT_DELTA_MS = 100;

export interface DueTime {
  readonly earliestMs: number;
  /** The last time that has come; undefined when none has. */
  readonly dueMs: number | undefined;
  readonly missed: 'none' | 'few' | 'many';
}

export const lastDueTime = (
  cronJob: CronJob,
  schedule: Schedule,
  options: { readonly nowMs: number; readonly withDeadline: boolean },
): DueTime => {
  const { nowMs } = options;
  const { startingDeadlineSeconds } = cronJob.spec ?? {};
  const { lastScheduleTime } = cronJob.status ?? {};
  let earliestMs = parseTime(lastScheduleTime ?? cronJob.metadata?.creationTimestamp ?? '') ?? nowMs;
  if (options.withDeadline && startingDeadlineSeconds !== undefined)
    earliestMs = Math.max(earliestMs, nowMs - startingDeadlineSeconds * 1000);
  const firstMs = schedule.next(earliestMs);
  if (firstMs === undefined || nowMs < firstMs) return { earliestMs, dueMs: undefined, missed: 'none' };
  const secondMs = schedule.next(firstMs);
  if (secondMs === undefined || nowMs < secondMs) return { earliestMs, dueMs: firstMs, missed: 'none' };
  const betweenMs = Math.max(1000, Math.round((secondMs - firstMs) / 1000) * 1000);
  const count = Math.floor((nowMs - firstMs) / betweenMs) + 1;
  // Jumps near the end: the times between may be many.
  let dueMs: number | undefined;
  let atMs = schedule.next(firstMs + (count - 2) * betweenMs);
  for (; atMs !== undefined && atMs <= nowMs; atMs = schedule.next(atMs)) dueMs = atMs;
  return { earliestMs, dueMs, missed: count > MISSED_TIMES_MAX ? 'many' : 'few' };
};

/** How long until the schedule is to be looked at again. */
export const untilNextMs = (cronJob: CronJob, schedule: Schedule, nowMs: number): number | undefined => {
  const { earliestMs, dueMs, missed } = lastDueTime(cronJob, schedule, { nowMs, withDeadline: false });
  const nextMs = schedule.next(dueMs ?? (missed === 'none' ? earliestMs : nowMs));
  return nextMs === undefined ? undefined : Math.max(0, nextMs + NEXT_DELTA_MS - nowMs);
};
