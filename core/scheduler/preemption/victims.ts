import { compiledSelector } from '../model/selectors.ts';
import type { CycleState } from '../framework/cycle-state.ts';
import type { Framework } from '../framework/framework.ts';
import type { PodDisruptionBudget } from '../framework/listers.ts';
import type { With } from '../framework/plugin.ts';
import { unresolvable, type Status } from '../framework/status.ts';
import type { PodInfo } from '../model/pod-info.ts';
import { DEFAULT_PREEMPTION } from '../framework/plugin-names.ts';

export interface NodeVictims {
  /** The most important first. */
  readonly victims: readonly PodInfo[];
  readonly pdbViolationCount: number;
}

const NO_VICTIMS = unresolvable(DEFAULT_PREEMPTION, 'No preemption victims found for incoming pod');

/** A pod that has not started yet is the first to go among equals. */
export const startTimeMs = ({ pod }: PodInfo): number =>
  pod.status?.startTime ? Date.parse(pod.status.startTime) : Infinity;

export const byImportance = (a: PodInfo, b: PodInfo): number => {
  if (a.priority !== b.priority) return b.priority - a.priority;
  const [startedA, startedB] = [startTimeMs(a), startTimeMs(b)];
  if (startedA !== startedB) return startedA < startedB ? -1 : 1;
  return a.uid < b.uid ? -1 : 1;
};

/** Pods whose eviction breaks a budget, given that those before them in the list are evicted too. */
export const splitByBudget = (
  pods: readonly PodInfo[],
  budgets: readonly PodDisruptionBudget[],
): { readonly violating: readonly PodInfo[]; readonly within: readonly PodInfo[] } => {
  const allowed = budgets.map(({ status }) => status?.disruptionsAllowed ?? 0);
  const breaksBudget = (info: PodInfo): boolean => {
    if (!info.labels || Object.keys(info.labels).length === 0) return false;
    for (const [at, { metadata, spec, status }] of budgets.entries()) {
      if (metadata.namespace !== info.namespace) continue;
      const selector = compiledSelector(spec?.selector);
      if (selector.isEmpty || !selector.matches(info.labels)) continue;
      // The budget already counts the eviction of this pod.
      if (status?.disruptedPods?.[info.pod.metadata.name ?? ''] !== undefined) continue;
      allowed[at]! -= 1;
      if (allowed[at]! < 0) return true;
    }
    return false;
  };
  const violating: PodInfo[] = [];
  const within: PodInfo[] = [];
  for (const info of pods) (breaksBudget(info) ? violating : within).push(info);
  return { violating, within };
};

/**
 * The fewest and least important pods of a node whose eviction lets the pod in: all that matter less are
 * taken away, then as many as possible are put back, those first whose eviction would break a budget. The
 * snapshot is left as it was.
 */
export const selectVictims = (
  framework: Framework,
  filters: readonly With<'Filter'>[],
  cycle: CycleState,
  pod: PodInfo,
  slot: number,
  budgets: readonly PodDisruptionBudget[],
): NodeVictims | Status => {
  const candidates = [...cycle.snapshot.entry(slot).pods.values()].filter(
    (info) => info.priority < pod.priority,
  );
  if (candidates.length === 0) return NO_VICTIMS;
  const away = new Set<PodInfo>();
  const take = (info: PodInfo): void => {
    framework.removePod(cycle, pod, info, slot);
    away.add(info);
  };
  const putBack = (info: PodInfo): void => {
    framework.addPod(cycle, pod, info, slot);
    away.delete(info);
  };
  try {
    for (const info of candidates) take(info);
    const status = framework.filterWithNominated(filters, cycle, pod, slot);
    if (status) return status;
    const { violating, within } = splitByBudget(candidates.sort(byImportance), budgets);
    const mustGo = (info: PodInfo): boolean => {
      putBack(info);
      if (!framework.filterWithNominated(filters, cycle, pod, slot)) return false;
      take(info);
      return true;
    };
    const breaking = violating.filter(mustGo);
    const victims = [...breaking, ...within.filter(mustGo)].sort(byImportance);
    return { victims, pdbViolationCount: breaking.length };
  } finally {
    for (const info of [...away]) putBack(info);
  }
};
