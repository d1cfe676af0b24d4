import { formatTime, parseTime, withCondition, type Condition } from '../../api/meta/index.ts';
import { isPodReady, type Pod, type PodDisruptionBudget, type Stored } from '../../client/index.ts';
import type { V1PodDisruptionBudgetStatus } from '../../api/schema/index.ts';

/** A pod whose eviction was granted and that is still there after this long was not evicted. */
export const DELETION_TIMEOUT_MS = 2 * 60_000;

/** Evictions that were granted and whose pods still seem to be there. */
export const disruptedPods = (
  { status }: PodDisruptionBudget,
  pods: readonly Stored<Pod>[],
  nowMs: number,
): {
  readonly kept: Record<string, string>;
  readonly expired: Stored<Pod>[];
  readonly recheckMs: number | undefined;
} => {
  const kept: Record<string, string> = {};
  const expired: Stored<Pod>[] = [];
  let recheckMs: number | undefined;
  for (const pod of pods) {
    const time = status?.disruptedPods?.[pod.metadata.name];
    if (time === undefined || pod.metadata.deletionTimestamp) continue;
    const untilMs = (parseTime(time) ?? 0) + DELETION_TIMEOUT_MS;
    if (untilMs < nowMs) expired.push(pod);
    else {
      kept[pod.metadata.name] = time;
      recheckMs = Math.min(recheckMs ?? Infinity, untilMs - nowMs + 1);
    }
  }
  return { kept, expired, recheckMs };
};

/** Neither on its way out nor promised to somebody who evicts. */
const isHealthy = (pod: Stored<Pod>, disrupted: Readonly<Record<string, string>>): boolean =>
  !pod.metadata.deletionTimestamp && disrupted[pod.metadata.name] === undefined && isPodReady(pod);

/** The status of a budget; the same object when nothing is new. */
export const budgetStatus = (
  budget: Stored<PodDisruptionBudget>,
  pods: readonly Stored<Pod>[],
  counts: { readonly expected: number; readonly desired: number },
  disrupted: Readonly<Record<string, string>>,
  nowMs: number,
): V1PodDisruptionBudgetStatus => {
  const currentHealthy = pods.filter((pod) => isHealthy(pod, disrupted)).length;
  const spare = currentHealthy - counts.desired;
  const disruptionsAllowed = counts.expected <= 0 || spare <= 0 ? 0 : spare;
  const { generation = 0 } = budget.metadata;
  const conditions = withCondition<Condition>(
    budget.status?.conditions as readonly Condition[] | undefined,
    {
      type: 'DisruptionAllowed',
      status: disruptionsAllowed > 0 ? 'True' : 'False',
      reason: disruptionsAllowed > 0 ? 'SufficientPods' : 'InsufficientPods',
      message: '',
      observedGeneration: generation,
    },
    formatTime(nowMs),
  );
  return {
    conditions: [...conditions] as NonNullable<V1PodDisruptionBudgetStatus['conditions']>,
    currentHealthy,
    desiredHealthy: counts.desired,
    disruptionsAllowed,
    expectedPods: counts.expected,
    observedGeneration: generation,
    ...(Object.keys(disrupted).length > 0 && { disruptedPods: { ...disrupted } }),
  };
};

/** When the numbers cannot be had, nothing may be evicted. */
export const failedStatus = (
  budget: Stored<PodDisruptionBudget>,
  message: string,
  nowMs: number,
): V1PodDisruptionBudgetStatus => {
  const { generation = 0 } = budget.metadata;
  const failed = {
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'SyncFailed',
    message,
    observedGeneration: generation,
  };
  const conditions = withCondition<Condition>(
    budget.status?.conditions as readonly Condition[] | undefined,
    failed,
    formatTime(nowMs),
  );
  return {
    ...budget.status,
    conditions: [...conditions] as NonNullable<V1PodDisruptionBudgetStatus['conditions']>,
    disruptionsAllowed: 0,
    observedGeneration: generation,
  };
};
