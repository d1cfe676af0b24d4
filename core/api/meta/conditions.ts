/** `metav1.Condition` and the older conditions that share its core. */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown' | (string & {});
  observedGeneration?: number;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
}

export const findCondition = <T extends { type: string }>(
  conditions: readonly T[] | undefined,
  type: string,
): T | undefined => conditions?.find((condition) => condition.type === type);

export const isConditionTrue = (
  conditions: readonly { type: string; status: string }[] | undefined,
  type: string,
): boolean => findCondition(conditions, type)?.status === 'True';

/**
 * The list with `next` in it. `lastTransitionTime` moves only when the status does; a condition that says
 * the same as before leaves the list as it is (the same array), so that callers can skip the write.
 */
export const withCondition = <T extends Condition>(
  conditions: readonly T[] | undefined,
  next: T,
  now: string,
): readonly T[] => {
  const before = conditions ?? [];
  const index = before.findIndex((condition) => condition.type === next.type);
  if (index < 0) return [...before, { ...next, lastTransitionTime: next.lastTransitionTime ?? now }];
  const old = before[index]!;
  const sameStatus = old.status === next.status;
  const same =
    sameStatus &&
    old.reason === next.reason &&
    old.message === next.message &&
    (next.observedGeneration === undefined || old.observedGeneration === next.observedGeneration);
  if (same) return before;
  const transition = sameStatus ? old.lastTransitionTime : (next.lastTransitionTime ?? now);
  const merged: T = { ...old, ...next, ...(transition !== undefined && { lastTransitionTime: transition }) };
  return before.with(index, merged);
};

export const withoutCondition = <T extends { type: string }>(
  conditions: readonly T[] | undefined,
  type: string,
): readonly T[] => (conditions ?? []).filter((condition) => condition.type !== type);
