import { findCondition, parseTime } from '../../api/meta/index.ts';
import type { Pod } from '../../client/index.ts';
import type { V1Taint, V1Toleration } from '../../api/schema/index.ts';

/** As upstream's `ToleratesTaint`: what a toleration leaves out means any. */
export const tolerates = (toleration: V1Toleration, taint: V1Taint): boolean => {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  const operator = toleration.operator || 'Equal';
  if (operator === 'Exists') return true;
  return operator === 'Equal' && (toleration.value ?? '') === (taint.value ?? '');
};

export const noExecuteTaints = (taints: readonly V1Taint[] | undefined): V1Taint[] =>
  (taints ?? []).filter(({ effect }) => effect === 'NoExecute');

/** Since when a pod and a taint are together: nothing of it is kept in memory, so a restart changes nothing. */
const togetherSinceMs = (pod: Pod, taint: V1Taint, nowMs: number): number => {
  const bound = findCondition(pod.status?.conditions, 'PodScheduled')?.lastTransitionTime;
  const podMs = parseTime(bound ?? pod.metadata?.creationTimestamp ?? '') ?? nowMs;
  const taintMs = parseTime(taint.timeAdded ?? '') ?? nowMs;
  return Math.max(podMs, taintMs);
};

/** When a pod must leave its node: immediately for a taint it does not tolerate, never for those it always does. */
export const evictionTimeMs = (pod: Pod, taints: readonly V1Taint[], nowMs: number): number => {
  let atMs = Infinity;
  for (const taint of taints) {
    const matching = (pod.spec?.tolerations ?? []).filter((toleration) => tolerates(toleration, taint));
    if (matching.length === 0) return nowMs;
    for (const { tolerationSeconds } of matching)
      if (tolerationSeconds !== undefined)
        atMs = Math.min(atMs, togetherSinceMs(pod, taint, nowMs) + Math.max(0, tolerationSeconds) * 1000);
  }
  return atMs;
};
