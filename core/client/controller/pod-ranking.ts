import { parseTime } from '../../api/meta/time.ts';
import type { Pod } from '../kinds.ts';
import { isPodReady, readyConditionOf } from './pod-conditions.ts';

const PHASE_RANK: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };
const DELETION_COST_ANNOTATION = 'controller.kubernetes.io/pod-deletion-cost';
const INT32_MAX = 2 ** 31 - 1;

export interface RankOptions {
  readonly nowMs: number;
  /** How many pods of the same owner run on the pod's node; the fuller node gives first. */
  relatedPodsOnNode?(pod: Pod): number;
}

/** An invalid annotation counts as none. */
const deletionCostOf = (pod: Pod): number => {
  const text = pod.metadata?.annotations?.[DELETION_COST_ANNOTATION];
  if (text === undefined || !/^(0|-?[1-9]\d*)$/.test(text)) return 0;
  const cost = Number(text);
  return cost >= -INT32_MAX - 1 && cost <= INT32_MAX ? cost : 0;
};

const restartsOf = (pod: Pod): { readonly regular: number; readonly sidecars: number } => {
  const sidecarNames = new Set(
    (pod.spec?.initContainers ?? [])
      .filter(({ restartPolicy }) => restartPolicy === 'Always')
      .map(({ name }) => name),
  );
  const most = (counts: readonly number[]): number => Math.max(0, ...counts);
  return {
    regular: most((pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount)),
    sidecars: most(
      (pod.status?.initContainerStatuses ?? [])
        .filter(({ name }) => sidecarNames.has(name))
        .map(({ restartCount }) => restartCount),
    ),
  };
};

const byUid = (a: Pod, b: Pod): number => ((a.metadata?.uid ?? '') < (b.metadata?.uid ?? '') ? -1 : 1);

const magnitude = (elapsedMs: number): number =>
  elapsedMs <= 0 ? -1 : Math.floor(Math.log2(elapsedMs * 1e6));

/**
 * The younger first; ages are compared by orders of magnitude, and among about equal ones the uid decides, so that
 * scaling down does not always take the newest. An unknown time is the youngest.
 */
const compareAges = (
  a: { readonly pod: Pod; readonly since: string | null | undefined },
  b: { readonly pod: Pod; readonly since: string | null | undefined },
  nowMs: number,
): number => {
  if (a.since === b.since) return 0;
  const [left, right] = [parseTime(a.since ?? ''), parseTime(b.since ?? '')];
  if (left === undefined || right === undefined) return left === undefined ? -1 : 1;
  return magnitude(nowMs - left) - magnitude(nowMs - right) || byUid(a.pod, b.pod);
};

/**
 * Which of two pods goes first when there are too many (below zero: `a`): unassigned, pending, not ready, cheap,
 * on a crowded node, ready for a shorter time, restarted more often, younger. upstream's ActivePodsWithRanks.
 */
export const compareForDeletion = (a: Pod, b: Pod, options: RankOptions): number => {
  const { nowMs, relatedPodsOnNode } = options;
  const assigned = Number(Boolean(a.spec?.nodeName)) - Number(Boolean(b.spec?.nodeName));
  if (assigned !== 0) return assigned;
  const phase = (PHASE_RANK[a.status?.phase ?? ''] ?? 0) - (PHASE_RANK[b.status?.phase ?? ''] ?? 0);
  if (phase !== 0) return phase;
  const ready = Number(isPodReady(a)) - Number(isPodReady(b));
  if (ready !== 0) return ready;
  const cost = deletionCostOf(a) - deletionCostOf(b);
  if (cost !== 0) return cost;
  if (relatedPodsOnNode) {
    const crowd = relatedPodsOnNode(b) - relatedPodsOnNode(a);
    if (crowd !== 0) return crowd;
  }
  if (isPodReady(a) && isPodReady(b)) {
    const since = (pod: Pod) => ({ pod, since: readyConditionOf(pod)?.lastTransitionTime });
    const readyTime = compareAges(since(a), since(b), nowMs);
    if (readyTime !== 0) return readyTime;
  }
  const [left, right] = [restartsOf(a), restartsOf(b)];
  const restarts = right.regular - left.regular || right.sidecars - left.sidecars;
  if (restarts !== 0) return restarts;
  const created = (pod: Pod) => ({ pod, since: pod.metadata?.creationTimestamp });
  return compareAges(created(a), created(b), nowMs);
};

/** The `count` pods that go first. */
export const podsToDelete = <P extends Pod>(pods: readonly P[], count: number, options: RankOptions): P[] =>
  count >= pods.length
    ? [...pods]
    : [...pods].sort((a, b) => compareForDeletion(a, b, options)).slice(0, count);
