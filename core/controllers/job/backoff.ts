import { findCondition } from '../../api/meta/conditions.ts';
import { parseTime } from '../../api/meta/time.ts';
import type { Pod } from '../../client/index.ts';
import { indexFailuresOf } from './job-spec.ts';

const BACKOFF_BASE_MS = 10_000;
const BACKOFF_MS_MAX = 10 * 60_000;

const latestContainerEndMs = (pod: Pod): number | undefined => {
  const sidecars = new Set(
    (pod.spec?.initContainers ?? [])
      .filter(({ restartPolicy }) => restartPolicy === 'Always')
      .map(({ name }) => name),
  );
  const statuses = [
    ...(pod.status?.containerStatuses ?? []),
    ...(pod.status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name)),
  ];
  const ends = statuses.map(({ state }) => parseTime(state?.terminated?.finishedAt ?? ''));
  if (ends.length === 0 || ends.includes(undefined)) return undefined;
  return Math.max(...(ends as number[]));
};

/** When a pod ended: by its containers, by its readiness, by its deletion; the best that is known. */
export const endedAtMs = (pod: Pod): number => {
  const byContainers = latestContainerEndMs(pod);
  if (byContainers !== undefined) return byContainers;
  const ready = findCondition(pod.status?.conditions, 'Ready');
  const byReadiness = ready?.status === 'False' ? parseTime(ready.lastTransitionTime ?? '') : undefined;
  if (byReadiness !== undefined) return byReadiness;
  const deletedMs = parseTime(pod.metadata?.deletionTimestamp ?? '');
  if (deletedMs !== undefined) return deletedMs - (pod.metadata?.deletionGracePeriodSeconds ?? 0) * 1000;
  return parseTime(pod.metadata?.creationTimestamp ?? '') ?? 0;
};

/** Failures since the last success of a job. */
export interface BackoffRecord {
  readonly failures: number;
  readonly lastFailureMs: number | undefined;
}

const NONE: BackoffRecord = { failures: 0, lastFailureMs: undefined };

export const nextBackoff = (
  before: BackoffRecord | undefined,
  succeeded: readonly Pod[],
  failed: readonly Pod[],
): BackoffRecord => {
  const failures = failed.map(endedAtMs);
  if (succeeded.length === 0) {
    if (failures.length === 0) return before ?? NONE;
    return { failures: (before?.failures ?? 0) + failures.length, lastFailureMs: Math.max(...failures) };
  }
  const lastSuccessMs = Math.max(...succeeded.map(endedAtMs));
  const later = failures.filter((failedMs) => failedMs > lastSuccessMs);
  return later.length === 0 ? NONE : { failures: later.length, lastFailureMs: Math.max(...later) };
};

/** 10 s, 20 s, 40 s, ... and at most 10 minutes from the last failure. */
export const untilRetryMs = ({ failures, lastFailureMs }: BackoffRecord, nowMs: number): number => {
  if (failures === 0 || lastFailureMs === undefined) return 0;
  const pauseMs = Math.min(BACKOFF_MS_MAX, BACKOFF_BASE_MS * 2 ** Math.min(failures - 1, 10));
  return Math.max(0, lastFailureMs + pauseMs - nowMs);
};

/** The same for one index, whose failures are written on the pod that is replaced. */
export const untilIndexRetryMs = (replaced: Pod | undefined, nowMs: number): number => {
  if (!replaced) return 0;
  const { counted, ignored } = indexFailuresOf(replaced);
  return untilRetryMs({ failures: counted + ignored + 1, lastFailureMs: endedAtMs(replaced) }, nowMs);
};
