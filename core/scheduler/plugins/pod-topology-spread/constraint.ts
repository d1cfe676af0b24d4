import type { LabelSelector, LabelSelectorObject } from '../../../api/selector/index.ts';
import type { LabelColumn } from '../../cache/label-columns.ts';
import type { PodShape } from '../../cache/pod-shapes.ts';
import type { Snapshot } from '../../cache/snapshot.ts';
import { compileRequiredNodeAffinity, type SlotMatcher } from '../../cache/node-selector.ts';
import type { TopologySpreadConstraint } from '../../model/objects.ts';
import type { PodInfo } from '../../model/pod-info.ts';
import { compiledSelector } from '../../model/selectors.ts';
import { findUntolerated } from '../../model/tolerations.ts';

export interface Constraint {
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly column: LabelColumn;
  readonly selector: LabelSelector;
  readonly honorsAffinity: boolean;
  readonly honorsTaints: boolean;
}

/** The values that the pod itself has for these keys join the selector: a rollout spreads by revision. */
const withMatchLabelKeys = (
  selector: LabelSelectorObject | undefined,
  keys: readonly string[] | undefined,
  labels: PodInfo['labels'],
): LabelSelectorObject | undefined => {
  const own = (keys ?? []).filter((key) => labels?.[key] !== undefined);
  if (own.length === 0 || !selector) return selector;
  return {
    ...selector,
    matchExpressions: [
      ...(selector.matchExpressions ?? []),
      ...own.map((key) => ({ key, operator: 'In', values: [labels![key]!] })),
    ],
  };
};

export const constraintsFor = (
  snapshot: Snapshot,
  pod: PodInfo,
  constraints: readonly TopologySpreadConstraint[],
  options: { readonly action: 'DoNotSchedule' | 'ScheduleAnyway'; readonly selector?: LabelSelector },
): readonly Constraint[] =>
  constraints
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === options.action)
    .map((constraint) => ({
      maxSkew: constraint.maxSkew,
      minDomains: constraint.minDomains ?? 1,
      column: snapshot.labels.column(constraint.topologyKey),
      selector:
        options.selector ??
        compiledSelector(withMatchLabelKeys(constraint.labelSelector, constraint.matchLabelKeys, pod.labels)),
      honorsAffinity: (constraint.nodeAffinityPolicy ?? 'Honor') === 'Honor',
      honorsTaints: (constraint.nodeTaintsPolicy ?? 'Ignore') === 'Honor',
    }));

/** Which nodes a constraint counts: those that the pod could be on as far as these policies look. */
export const inclusionOf = (snapshot: Snapshot, pod: PodInfo): ((constraint: Constraint) => SlotMatcher) => {
  const required = compileRequiredNodeAffinity(snapshot, pod.pod.spec);
  const tolerated: (boolean | undefined)[] = [];
  const toleratesSlot: SlotMatcher = (slot) => {
    const set = snapshot.columns.taintSet[slot]!;
    return (tolerated[set] ??=
      findUntolerated(snapshot.taintSets.taints(set), pod.pod.spec.tolerations) === undefined);
  };
  return (constraint) => {
    const byAffinity = constraint.honorsAffinity ? required : undefined;
    if (!constraint.honorsTaints) return byAffinity ?? (() => true);
    return (slot) => (!byAffinity || byAffinity(slot)) && toleratesSlot(slot);
  };
};

/** Calls `count` for every node with pods that the constraint counts. An empty selector counts none. */
export const countMatching = (
  snapshot: Snapshot,
  namespace: string,
  selector: LabelSelector,
  count: (slot: number, pods: number) => void,
): void => {
  if (selector.isEmpty) return;
  for (const shape of snapshot.shapes.inNamespace(namespace)) {
    if (!counts(shape, namespace, selector)) continue;
    for (const [slot, pods] of shape.countOf) count(slot, pods);
  }
};

export const counts = (
  pod: Pick<PodShape, 'namespace' | 'labels' | 'terminating'>,
  namespace: string,
  selector: LabelSelector,
): boolean =>
  !pod.terminating && pod.namespace === namespace && !selector.isEmpty && selector.matches(pod.labels);
