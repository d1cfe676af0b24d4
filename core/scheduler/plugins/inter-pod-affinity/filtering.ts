import type { Labels } from '../../../api/selector/index.ts';
import type { PodShape } from '../../cache/pod-shapes.ts';
import type { Snapshot } from '../../cache/snapshot.ts';
import { stateKey, type CycleState } from '../../framework/cycle-state.ts';
import { skip, unresolvable, unschedulable, type Status } from '../../framework/status.ts';
import { termMatches, type AffinityTerm, type TermSubject } from '../../model/affinity-term.ts';
import type { PodInfo } from '../../model/pod-info.ts';
import { INTER_POD_AFFINITY } from '../../framework/plugin-names.ts';
import { TopologyCounts } from './topology-counts.ts';

const NO_AFFINITY = unresolvable(INTER_POD_AFFINITY, "node(s) didn't match pod affinity rules");
const ANTI_AFFINITY = unschedulable(INTER_POD_AFFINITY, "node(s) didn't match pod anti-affinity rules");
const EXISTING_ANTI_AFFINITY = unschedulable(
  INTER_POD_AFFINITY,
  "node(s) didn't satisfy existing pods anti-affinity rules",
);
export const SKIP = skip(INTER_POD_AFFINITY);

export type NamespaceLabels = (namespace: string) => Labels | undefined;

interface FilterState {
  /** Where pods are that do not want this one near. */
  readonly existingAnti: TopologyCounts;
  readonly affinity: TopologyCounts;
  readonly anti: TopologyCounts;
}

const STATE = stateKey<FilterState>('PreFilterInterPodAffinity');

const matchesAll = (
  terms: readonly AffinityTerm[],
  subject: TermSubject,
  namespaceLabels: NamespaceLabels,
): boolean => terms.every((term) => termMatches(term, subject, namespaceLabels(subject.namespace)));

/** Shapes that some of the terms may select: those of the namespaces named, where only such are. */
export const shapesFor = function* (snapshot: Snapshot, terms: readonly AffinityTerm[]): Iterable<PodShape> {
  if (
    terms.some((term) => term.namespaceSelector.isEmpty || term.namespaceSelector.requirements.length > 0)
  ) {
    yield* snapshot.shapes.all();
    return;
  }
  const namespaces = new Set(terms.flatMap((term) => [...term.namespaces]));
  for (const namespace of namespaces) yield* snapshot.shapes.inNamespace(namespace);
};

const countPods = (
  state: FilterState,
  pod: PodInfo,
  other: PodShape | PodInfo,
  namespaceLabels: NamespaceLabels,
  count: (counts: TopologyCounts, key: string) => void,
): void => {
  const { required, requiredAnti } = pod.affinity;
  if (required.length > 0 && matchesAll(required, other, namespaceLabels))
    for (const { topologyKey } of required) count(state.affinity, topologyKey);
  for (const term of requiredAnti)
    if (termMatches(term, other, namespaceLabels(other.namespace))) count(state.anti, term.topologyKey);
};

const countExistingAnti = (
  state: FilterState,
  pod: PodInfo,
  other: PodShape | PodInfo,
  namespaceLabels: NamespaceLabels,
  count: (counts: TopologyCounts, key: string) => void,
): void => {
  for (const term of other.affinity.requiredAnti)
    if (termMatches(term, pod, namespaceLabels(pod.namespace))) count(state.existingAnti, term.topologyKey);
};

/** False when pod affinity has nothing to say about this pod. */
export const writeFilterState = (
  cycle: CycleState,
  pod: PodInfo,
  namespaceLabels: NamespaceLabels,
): boolean => {
  const { snapshot } = cycle;
  const { required, requiredAnti } = pod.affinity;
  const state: FilterState = {
    existingAnti: new TopologyCounts(snapshot),
    affinity: new TopologyCounts(snapshot),
    anti: new TopologyCounts(snapshot),
  };
  const addAll =
    (shape: PodShape) =>
    (counts: TopologyCounts, key: string): void => {
      for (const [slot, pods] of shape.countOf) counts.add(key, slot, pods);
    };
  for (const shape of snapshot.shapes.withRequiredAntiAffinity)
    countExistingAnti(state, pod, shape, namespaceLabels, addAll(shape));
  if (required.length + requiredAnti.length > 0)
    for (const shape of shapesFor(snapshot, [...required, ...requiredAnti]))
      countPods(state, pod, shape, namespaceLabels, addAll(shape));
  if (!state.existingAnti.isTouched && required.length + requiredAnti.length === 0) return false;
  cycle.write(STATE, state);
  return true;
};

export const movePod = (
  cycle: CycleState,
  move: { readonly pod: PodInfo; readonly moved: PodInfo; readonly slot: number; readonly by: 1 | -1 },
  namespaceLabels: NamespaceLabels,
): void => {
  const state = cycle.read(STATE);
  if (!state) return;
  const count = (counts: TopologyCounts, key: string): void => counts.add(key, move.slot, move.by);
  countExistingAnti(state, move.pod, move.moved, namespaceLabels, count);
  countPods(state, move.pod, move.moved, namespaceLabels, count);
};

/** The first pod of a group that wants to be near itself may go anywhere. */
const satisfiesAffinity = (
  state: FilterState,
  pod: PodInfo,
  slot: number,
  namespaceLabels: NamespaceLabels,
): boolean => {
  let podsExist = true;
  for (const { topologyKey } of pod.affinity.required) {
    const count = state.affinity.at(topologyKey, slot);
    if (count === undefined) return false;
    if (count <= 0) podsExist = false;
  }
  return podsExist || (state.affinity.sum === 0 && matchesAll(pod.affinity.required, pod, namespaceLabels));
};

export const filterByAffinity = (
  cycle: CycleState,
  pod: PodInfo,
  slot: number,
  namespaceLabels: NamespaceLabels,
): Status | undefined => {
  const state = cycle.mustRead(STATE);
  if (pod.affinity.required.length > 0 && !satisfiesAffinity(state, pod, slot, namespaceLabels))
    return NO_AFFINITY;
  for (const { topologyKey } of pod.affinity.requiredAnti)
    if ((state.anti.at(topologyKey, slot) ?? 0) > 0) return ANTI_AFFINITY;
  return state.existingAnti.anyPositive(slot) ? EXISTING_ANTI_AFFINITY : undefined;
};
