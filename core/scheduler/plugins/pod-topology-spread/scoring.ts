import { stateKey, type CycleState } from '../../framework/cycle-state.ts';
import { SCORE_MAX } from '../../framework/plugin.ts';
import { LABEL_HOSTNAME } from '../../model/objects.ts';
import type { PodInfo } from '../../model/pod-info.ts';
import { countMatching, inclusionOf, type Constraint } from './constraint.ts';

interface Weighed {
  readonly constraint: Constraint;
  /** Matching pods by value id, or by slot for the host name, where every node is a domain of its own. */
  readonly pods: Float64Array;
  readonly perNode: boolean;
  readonly weight: number;
}

interface ScoreState {
  readonly weighed: readonly Weighed[];
  /** Marks feasible nodes that lack one of the labels; they get the lowest score. */
  readonly ignored: Uint8Array;
}

const STATE = stateKey<ScoreState>('PreScorePodTopologySpread');

/** The more domains, the less pods in one of them matter against constraints over few. */
const normalizingWeight = (domainCount: number): number => Math.log(domainCount + 2);

const findIgnored = (constraints: readonly Constraint[], slots: Int32Array): Uint8Array => {
  const ignored = new Uint8Array(slots.length);
  for (let at = 0; at < slots.length; at += 1)
    for (const { column } of constraints) if (column.ids[slots[at]!] === 0) ignored[at] = 1;
  return ignored;
};

export const writeScoreState = (
  cycle: CycleState,
  pod: PodInfo,
  slots: Int32Array,
  constraints: readonly Constraint[],
  requireAllTopologies: boolean,
): void => {
  const { snapshot } = cycle;
  const inclusion = inclusionOf(snapshot, pod);
  const ignored = requireAllTopologies ? findIgnored(constraints, slots) : new Uint8Array(slots.length);
  const consideredCount = ignored.reduce((count, mark) => count - mark, slots.length);
  const hasAllLabels = (slot: number): boolean =>
    !requireAllTopologies || constraints.every(({ column }) => column.ids[slot] !== 0);
  const weighed = constraints.map((constraint): Weighed => {
    const { column, selector } = constraint;
    const { ids } = column;
    if (column.key === LABEL_HOSTNAME) {
      const pods = new Float64Array(snapshot.slotBound);
      countMatching(snapshot, pod.namespace, selector, (slot, count) => void (pods[slot]! += count));
      return { constraint, pods, perNode: true, weight: normalizingWeight(consideredCount) };
    }
    const isDomain = new Uint8Array(column.idBound);
    let domainCount = 0;
    for (let at = 0; at < slots.length; at += 1) {
      const id = ids[slots[at]!]!;
      if (ignored[at] === 1 || isDomain[id] === 1) continue;
      isDomain[id] = 1;
      domainCount += 1;
    }
    const pods = new Float64Array(column.idBound);
    const includes = inclusion(constraint);
    countMatching(snapshot, pod.namespace, selector, (slot, count) => {
      if (isDomain[ids[slot]!] === 1 && hasAllLabels(slot) && includes(slot)) pods[ids[slot]!]! += count;
    });
    return { constraint, pods, perNode: false, weight: normalizingWeight(domainCount) };
  });
  cycle.write(STATE, { weighed, ignored });
};

export const scoreSpread = (cycle: CycleState, slots: Int32Array, scores: Float64Array): void => {
  const { weighed, ignored } = cycle.mustRead(STATE);
  for (let at = 0; at < slots.length; at += 1) {
    if (ignored[at] === 1) continue;
    const slot = slots[at]!;
    let score = 0;
    for (const { constraint, pods, perNode, weight } of weighed) {
      const id = constraint.column.ids[slot]!;
      if (id !== 0) score += pods[perNode ? slot : id]! * weight + (constraint.maxSkew - 1);
    }
    scores[at] = Math.round(score);
  }
};

export const normalizeSpread = (cycle: CycleState, scores: Float64Array): void => {
  const { ignored } = cycle.mustRead(STATE);
  let min = Infinity;
  let max = 0;
  for (let at = 0; at < scores.length; at += 1) {
    if (ignored[at] === 1) continue;
    if (scores[at]! < min) min = scores[at]!;
    if (scores[at]! > max) max = scores[at]!;
  }
  for (let at = 0; at < scores.length; at += 1)
    if (ignored[at] === 1) scores[at] = 0;
    else scores[at] = max === 0 ? SCORE_MAX : Math.trunc((SCORE_MAX * (max + min - scores[at]!)) / max);
};
