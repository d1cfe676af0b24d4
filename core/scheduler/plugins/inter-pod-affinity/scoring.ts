import type { PodShape } from '../../cache/pod-shapes.ts';
import { stateKey, type CycleState } from '../../framework/cycle-state.ts';
import { SCORE_MAX } from '../../framework/plugin.ts';
import { termMatches, type AffinityTerm, type TermSubject } from '../../model/affinity-term.ts';
import type { PodInfo } from '../../model/pod-info.ts';
import type { NamespaceLabels } from './filtering.ts';
import { TopologyCounts } from './topology-counts.ts';

const STATE = stateKey<TopologyCounts>('PreScoreInterPodAffinity');

export interface AffinityScoreOptions {
  /** What the required affinity of a running pod counts as a preference of that pod for the coming one. */
  readonly hardPodAffinityWeight: number;
  readonly ignorePreferredTermsOfExistingPods: boolean;
}

/** False when no pod prefers to be near or far from another. */
export const writeScoreState = (
  cycle: CycleState,
  pod: PodInfo,
  options: AffinityScoreOptions,
  namespaceLabels: NamespaceLabels,
): boolean => {
  const { shapes } = cycle.snapshot;
  const { preferred, preferredAnti } = pod.affinity;
  const hasPreferences = preferred.length + preferredAnti.length > 0;
  if (options.ignorePreferredTermsOfExistingPods && !hasPreferences) return false;
  const counts = new TopologyCounts(cycle.snapshot);
  const ownLabels = namespaceLabels(pod.namespace);
  const weigh = (shape: PodShape, term: AffinityTerm, subject: TermSubject, weight: number): void => {
    if (!termMatches(term, subject, subject === pod ? ownLabels : namespaceLabels(subject.namespace))) return;
    for (const [slot, pods] of shape.countOf) counts.add(term.topologyKey, slot, weight * pods);
  };
  for (const shape of hasPreferences ? shapes.all() : shapes.withAffinity) {
    for (const term of preferred) weigh(shape, term, shape, term.weight);
    for (const term of preferredAnti) weigh(shape, term, shape, -term.weight);
    if (options.hardPodAffinityWeight > 0)
      for (const term of shape.affinity.required) weigh(shape, term, pod, options.hardPodAffinityWeight);
    for (const term of shape.affinity.preferred) weigh(shape, term, pod, term.weight);
    for (const term of shape.affinity.preferredAnti) weigh(shape, term, pod, -term.weight);
  }
  if (!counts.isTouched) return false;
  cycle.write(STATE, counts);
  return true;
};

export const scoreAffinity = (cycle: CycleState, slots: Int32Array, scores: Float64Array): void =>
  cycle.mustRead(STATE).addTo(slots, scores);

export const normalizeAffinity = (scores: Float64Array): void => {
  let min = Infinity;
  let max = -Infinity;
  for (const score of scores) {
    if (score < min) min = score;
    if (score > max) max = score;
  }
  for (let at = 0; at < scores.length; at += 1)
    scores[at] = max > min ? Math.trunc(SCORE_MAX * ((scores[at]! - min) / (max - min))) : 0;
};
