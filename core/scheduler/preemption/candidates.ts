import type { Random } from '../../base/random.ts';
import type { CycleState } from '../framework/cycle-state.ts';
import { fitErrorMessage, type Diagnosis } from '../framework/fit-error.ts';
import type { Framework } from '../framework/framework.ts';
import type { PodDisruptionBudget } from '../framework/listers.ts';
import { NodeStatuses } from '../framework/node-statuses.ts';
import { failed, unresolvable } from '../framework/status.ts';
import type { PodInfo } from '../model/pod-info.ts';
import { DEFAULT_PREEMPTION } from '../framework/plugin-names.ts';
import { selectVictims, startTimeMs, type NodeVictims } from './victims.ts';

export interface Candidate extends NodeVictims {
  readonly nodeName: string;
}

export interface CandidateBounds {
  readonly minCandidateNodesPercentage: number;
  readonly minCandidateNodesAbsolute: number;
}

export interface CandidateSearch {
  readonly candidates: readonly Candidate[];
  /** Upstream's sentence about the nodes, for when there is no candidate. */
  readonly message: string;
}

/** Nodes whose rejection another pod's going could undo. */
const potentialSlots = (cycle: CycleState, { statuses, absent }: Diagnosis): readonly number[] =>
  [...cycle.snapshot.order].filter((slot) => (statuses.get(slot) ?? absent)?.code === 'Unschedulable');

/** Tries nodes from a random one on, until enough are found of which at least one breaks no budget. */
export const findCandidates = (
  framework: Framework,
  cycle: CycleState,
  pod: PodInfo,
  diagnosis: Diagnosis,
  options: CandidateBounds & {
    readonly random: Random;
    readonly budgets: readonly PodDisruptionBudget[];
  },
): CandidateSearch => {
  const potential = potentialSlots(cycle, diagnosis);
  const wanted = Math.min(
    potential.length,
    Math.max(
      options.minCandidateNodesAbsolute,
      Math.floor((potential.length * options.minCandidateNodesPercentage) / 100),
    ),
  );
  const offset = potential.length > 0 ? options.random.below(potential.length) : 0;
  const filters = framework.activeFilters(cycle);
  const statuses = new NodeStatuses();
  const harmless: Candidate[] = [];
  const violating: Candidate[] = [];
  for (let step = 0; step < potential.length; step += 1) {
    if (harmless.length > 0 && harmless.length + violating.length >= wanted) break;
    const slot = potential[(offset + step) % potential.length]!;
    const { name: nodeName } = cycle.snapshot.entry(slot);
    const result = selectVictims(framework, filters, cycle, pod, slot, options.budgets);
    if ('code' in result) statuses.add(slot, result);
    else if (result.victims.length === 0)
      statuses.add(
        slot,
        failed(DEFAULT_PREEMPTION, `expected at least one victim pod on node "${nodeName}"`),
      );
    else (result.pdbViolationCount === 0 ? harmless : violating).push({ ...result, nodeName });
  }
  return {
    candidates: [...harmless, ...violating],
    message: fitErrorMessage({
      nodeCount: cycle.snapshot.nodeCount,
      statuses,
      absent: unresolvable(DEFAULT_PREEMPTION, 'Preemption is not helpful for scheduling'),
      preFilterMessage: '',
    }),
  };
};

/** Added to every priority, so that fewer victims always sum up to less. */
const PRIORITY_OFFSET = 2 ** 31;

const earliestStartMs = ({ victims }: Candidate): number => {
  const highest = victims[0]?.priority;
  return Math.min(...victims.filter(({ priority }) => priority === highest).map(startTimeMs));
};

/** Smaller is better; a later one only decides among equals. */
const CRITERIA: readonly ((candidate: Candidate) => number)[] = [
  ({ pdbViolationCount }) => pdbViolationCount,
  ({ victims }) => victims[0]?.priority ?? 0,
  ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + PRIORITY_OFFSET, 0),
  ({ victims }) => victims.length,
  (candidate) => -earliestStartMs(candidate),
];

/** Fewest broken budgets, then the least important victims, then the fewest, then the youngest. */
export const pickCandidate = (candidates: readonly Candidate[]): Candidate | undefined => {
  let left = candidates;
  for (const criterion of CRITERIA) {
    if (left.length <= 1) break;
    const values = left.map(criterion);
    const best = Math.min(...values);
    left = left.filter((_, at) => values[at] === best);
  }
  return left[0];
};
