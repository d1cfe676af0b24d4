import { findCondition } from '../../api/meta/conditions.ts';
import { parseTime } from '../../api/meta/time.ts';
import type { V1JobCondition } from '../../api/schema/index.ts';
import { jobCondition } from './conditions.ts';
import { jobFailureMessage } from './failure-policy.ts';
import { countIndexes } from './index-set.ts';
import { hasMetSuccessCriteria, restartsExceed, type JobLook } from './job-look.ts';
import { backoffLimitOf, completionsOf, isIndexed, isSuspended } from './job-spec.ts';
import { successMessage } from './success-policy.ts';

/** How long until the active deadline; undefined when there is none or its clock stands. */
export const untilDeadlineMs = ({ job, status }: JobLook, nowMs: number): number | undefined => {
  const { activeDeadlineSeconds } = job.spec ?? {};
  const startMs = parseTime(status.startTime ?? '');
  if (activeDeadlineSeconds === undefined || startMs === undefined || isSuspended(job)) return undefined;
  return startMs + activeDeadlineSeconds * 1000 - nowMs;
};

const failureOf = (look: JobLook, nowMs: number): { reason: string; message: string } | undefined => {
  const { job, pods, failed } = look;
  const message = jobFailureMessage(job, pods);
  if (message !== undefined) return { reason: 'PodFailurePolicy', message };
  const limit = backoffLimitOf(job);
  if (failed > limit || restartsExceed(job, pods, limit))
    return { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' };
  if ((untilDeadlineMs(look, nowMs) ?? Infinity) <= 0)
    return { reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' };
  if (!look.failedIndexes) return undefined;
  const failedCount = countIndexes(look.failedIndexes);
  const { maxFailedIndexes } = job.spec ?? {};
  if (maxFailedIndexes !== undefined && failedCount > maxFailedIndexes)
    return {
      reason: 'MaxFailedIndexesExceeded',
      message: 'Job has exceeded the specified maximal number of failed indexes',
    };
  if (failedCount > 0 && failedCount + countIndexes(look.succeededIndexes) >= (completionsOf(job) ?? 0))
    return { reason: 'FailedIndexes', message: 'Job has failed indexes' };
  return undefined;
};

/**
 * The condition that ends the job before all its pods are done, undefined when it continues. What was said before stays
 * said; failure comes before success.
 */
export const verdictOn = (look: JobLook, nowMs: number): V1JobCondition | undefined => {
  const { job, status } = look;
  if (hasMetSuccessCriteria(look)) return findCondition(status.conditions, 'SuccessCriteriaMet');
  const target = findCondition(status.conditions, 'FailureTarget');
  if (target?.status === 'True') return jobCondition('Failed', 'True', target, nowMs);
  const failure = failureOf(look, nowMs);
  if (failure) return jobCondition('FailureTarget', 'True', failure, nowMs);
  const message = isIndexed(job) ? successMessage(job, look.succeededIndexes) : undefined;
  return message === undefined
    ? undefined
    : jobCondition('SuccessCriteriaMet', 'True', { reason: 'SuccessPolicy', message }, nowMs);
};

/** All completions are there, or any where none are asked for, and nothing runs any more. */
export const isCompleted = ({ job, succeeded, activeCount }: JobLook): boolean =>
  activeCount === 0 && succeeded >= (completionsOf(job) ?? 1);

export const completedCondition = (nowMs: number): V1JobCondition =>
  jobCondition(
    'SuccessCriteriaMet',
    'True',
    { reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' },
    nowMs,
  );
