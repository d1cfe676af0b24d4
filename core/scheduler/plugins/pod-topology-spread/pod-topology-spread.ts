import { ACTION } from '../../framework/cluster-event.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { ClusterLister } from '../../framework/listers.ts';
import type { Plugin } from '../../framework/plugin.ts';
import {
  LABEL_HOSTNAME,
  LABEL_ZONE,
  type Node,
  type Pod,
  type TopologySpreadConstraint,
} from '../../model/objects.ts';
import type { PodInfo } from '../../model/pod-info.ts';
import { compiledSelector } from '../../model/selectors.ts';
import { POD_TOPOLOGY_SPREAD } from '../../framework/plugin-names.ts';
import { constraintsFor, type Constraint } from './constraint.ts';
import { defaultSelector } from './default-selector.ts';
import { filterBySkew, movePod, SKIP, writeFilterState } from './filtering.ts';
import { normalizeSpread, scoreSpread, writeScoreState } from './scoring.ts';

export interface PodTopologySpreadArgs {
  readonly defaultConstraints?: readonly TopologySpreadConstraint[];
  /** `System` takes the built-in defaults below, `List` those given. */
  readonly defaultingType?: 'System' | 'List';
}

export const SYSTEM_DEFAULT_CONSTRAINTS: readonly TopologySpreadConstraint[] = [
  { maxSkew: 3, topologyKey: LABEL_HOSTNAME, whenUnsatisfiable: 'ScheduleAnyway' },
  { maxSkew: 5, topologyKey: LABEL_ZONE, whenUnsatisfiable: 'ScheduleAnyway' },
];

const selectsAny = (pod: Pod, other: Pod): boolean =>
  pod.metadata.namespace === other.metadata.namespace &&
  (pod.spec.topologySpreadConstraints ?? []).some(({ labelSelector }) =>
    compiledSelector(labelSelector).matches(other.metadata.labels),
  );

const hasAllKeys = (pod: Pod, node: Node): boolean =>
  (pod.spec.topologySpreadConstraints ?? [])
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule')
    .every(({ topologyKey }) => node.metadata.labels?.[topologyKey] !== undefined);

export const podTopologySpread = (args: PodTopologySpreadArgs, lister: ClusterLister): Plugin => {
  const isSystemDefaulted = (args.defaultingType ?? 'System') === 'System';
  const defaults = isSystemDefaulted ? SYSTEM_DEFAULT_CONSTRAINTS : (args.defaultConstraints ?? []);
  const constraintsOf = (
    cycle: CycleState,
    pod: PodInfo,
    action: 'DoNotSchedule' | 'ScheduleAnyway',
  ): readonly Constraint[] => {
    const own = pod.pod.spec.topologySpreadConstraints;
    if (own?.length) return constraintsFor(cycle.snapshot, pod, own, { action });
    if (!defaults.some(({ whenUnsatisfiable }) => whenUnsatisfiable === action)) return [];
    const selector = defaultSelector(pod, lister);
    return selector ? constraintsFor(cycle.snapshot, pod, defaults, { action, selector }) : [];
  };
  return {
    name: POD_TOPOLOGY_SPREAD,
    preFilter(cycle, pod) {
      const constraints = constraintsOf(cycle, pod, 'DoNotSchedule');
      if (constraints.length === 0) return { status: SKIP };
      writeFilterState(cycle, pod, constraints);
      return undefined;
    },
    addPod: (cycle, pod, added, slot) => movePod(cycle, pod, added, slot, 1),
    removePod: (cycle, pod, removed, slot) => movePod(cycle, pod, removed, slot, -1),
    filter: (cycle, _, slot) => filterBySkew(cycle, slot),
    preScore(cycle, pod, slots) {
      const constraints = constraintsOf(cycle, pod, 'ScheduleAnyway');
      if (constraints.length === 0) return SKIP;
      const requireAll = Boolean(pod.pod.spec.topologySpreadConstraints?.length) || !isSystemDefaulted;
      writeScoreState(cycle, pod, slots, constraints, requireAll);
      return undefined;
    },
    score(cycle, _, slots, scores) {
      scoreSpread(cycle, slots, scores);
      return undefined;
    },
    normalizeScores: (cycle, _pod, _slots, scores) => normalizeSpread(cycle, scores),
    eventsToRegister: () => [
      {
        resource: 'AssignedPod',
        action: ACTION.add | ACTION.delete | ACTION.updatePodLabel,
        hint: (pod, before, after) =>
          !pod.spec.topologySpreadConstraints?.length ||
          [before, after].some((other) => other && selectsAny(pod, other as Pod))
            ? 'Queue'
            : 'QueueSkip',
      },
      {
        resource: 'Node',
        action: ACTION.add | ACTION.delete | ACTION.updateNodeLabel | ACTION.updateNodeTaint,
        hint: (pod, before, after) =>
          [before, after].some((node) => node && hasAllKeys(pod, node as Node)) ? 'Queue' : 'QueueSkip',
      },
    ],
  };
};
