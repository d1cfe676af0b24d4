import { formatTime } from '../../api/meta/time.ts';
import type { V1JobCondition } from '../../api/schema/index.ts';

export type JobConditionType = 'Suspended' | 'Complete' | 'Failed' | 'FailureTarget' | 'SuccessCriteriaMet';

export const jobCondition = (
  type: JobConditionType,
  status: 'True' | 'False',
  cause: { readonly reason?: string; readonly message?: string },
  nowMs: number,
): V1JobCondition => {
  const now = formatTime(nowMs);
  const { reason = '', message = '' } = cause;
  return { type, status, lastProbeTime: now, lastTransitionTime: now, reason, message };
};

/** The list with the condition in it; undefined when it says so already, or would only deny what no one said. */
export const withJobCondition = (
  conditions: readonly V1JobCondition[],
  next: V1JobCondition,
): V1JobCondition[] | undefined => {
  const index = conditions.findIndex(({ type }) => type === next.type);
  if (index < 0) return next.status === 'False' ? undefined : [...conditions, next];
  const held = conditions[index]!;
  if (held.status === next.status && held.reason === next.reason && held.message === next.message)
    return undefined;
  return conditions.with(index, next);
};
