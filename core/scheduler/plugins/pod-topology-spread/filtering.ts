import { stateKey, type CycleState } from '../../framework/cycle-state.ts';
import { skip, unresolvable, unschedulable, type Status } from '../../framework/status.ts';
import type { SlotMatcher } from '../../cache/node-selector.ts';
import type { PodInfo } from '../../model/pod-info.ts';
import { POD_TOPOLOGY_SPREAD } from '../../framework/plugin-names.ts';
import { countMatching, counts, inclusionOf, type Constraint } from './constraint.ts';

const NOT_SPREAD = "node(s) didn't match pod topology spread constraints";
const SKEWED = unschedulable(POD_TOPOLOGY_SPREAD, NOT_SPREAD);
const NO_LABEL = unresolvable(POD_TOPOLOGY_SPREAD, `${NOT_SPREAD} (missing required label)`);
export const SKIP = skip(POD_TOPOLOGY_SPREAD);

interface Counted {
  readonly constraint: Constraint;
  readonly includes: SlotMatcher;
  /** Matching pods by value id; -1 where no counted node has the value. */
  readonly pods: Int32Array;
  readonly selfMatches: 0 | 1;
  readonly domainCount: number;
  /** Undefined when pods were added or removed since it was worked out. */
  min: number | undefined;
}

interface FilterState {
  readonly counted: readonly Counted[];
}

const STATE = stateKey<FilterState>('PreFilterPodTopologySpread');

const hasAllLabels = (constraints: readonly Constraint[], slot: number): boolean => {
  for (const { column } of constraints) if (column.ids[slot] === 0) return false;
  return true;
};

export const writeFilterState = (
  cycle: CycleState,
  pod: PodInfo,
  constraints: readonly Constraint[],
): void => {
  const { snapshot } = cycle;
  const inclusion = inclusionOf(snapshot, pod);
  const counted = constraints.map((constraint): Counted => {
    const { column, selector } = constraint;
    const policies = inclusion(constraint);
    const includes: SlotMatcher = (slot) => hasAllLabels(constraints, slot) && policies(slot);
    const pods = new Int32Array(column.idBound).fill(-1);
    let domainCount = 0;
    for (const slot of snapshot.order) {
      const id = column.ids[slot]!;
      if (pods[id] === -1 && includes(slot)) {
        pods[id] = 0;
        domainCount += 1;
      }
    }
    countMatching(snapshot, pod.namespace, selector, (slot, count) => {
      if (includes(slot)) pods[column.ids[slot]!]! += count;
    });
    return {
      constraint,
      includes,
      pods,
      domainCount,
      selfMatches: selector.matches(pod.labels) ? 1 : 0,
      min: undefined,
    };
  });
  cycle.write(STATE, { counted });
};

/** Too few domains count as if one more were empty. */
const minOf = ({ pods, domainCount, constraint }: Counted): number => {
  if (domainCount < constraint.minDomains) return 0;
  let min = Infinity;
  for (const count of pods) if (count >= 0 && count < min) min = count;
  return min;
};

export const filterBySkew = (cycle: CycleState, slot: number): Status | undefined => {
  for (const counted of cycle.mustRead(STATE).counted) {
    const id = counted.constraint.column.ids[slot]!;
    if (id === 0) return NO_LABEL;
    const min = (counted.min ??= minOf(counted));
    const skew = Math.max(0, counted.pods[id]!) + counted.selfMatches - min;
    if (skew > counted.constraint.maxSkew) return SKEWED;
  }
  return undefined;
};

export const movePod = (cycle: CycleState, pod: PodInfo, moved: PodInfo, slot: number, by: 1 | -1): void => {
  for (const counted of cycle.read(STATE)?.counted ?? []) {
    const { column, selector } = counted.constraint;
    if (!counts(moved, pod.namespace, selector) || !counted.includes(slot)) continue;
    counted.pods[column.ids[slot]!]! += by;
    counted.min = undefined;
  }
};
