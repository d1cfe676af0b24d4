import { ACTION } from '../../framework/cluster-event.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { Diagnosis } from '../../framework/fit-error.ts';
import type { Handle } from '../../framework/handle.ts';
import type { Plugin, PostFilterResult } from '../../framework/plugin.ts';
import { failed, unresolvable, unschedulable } from '../../framework/status.ts';
import { messageOf } from '../../../base/errors.ts';
import type { PodInfo } from '../../model/pod-info.ts';
import { filterByPreemptingExtenders } from '../../preemption/extenders.ts';
import { findCandidates, pickCandidate, type CandidateBounds } from '../../preemption/candidates.ts';
import { Evictions } from '../../preemption/evictions.ts';
import { DEFAULT_PREEMPTION } from '../../framework/plugin-names.ts';

export interface DefaultPreemptionArgs {
  readonly minCandidateNodesPercentage?: number;
  readonly minCandidateNodesAbsolute?: number;
}

const CANDIDATE_PERCENTAGE = 10;
const CANDIDATES_MIN = 100;
const STILL_EVICTING = unresolvable(
  DEFAULT_PREEMPTION,
  'waiting for the preemption for this pod to be finished',
);

const isBeingPreempted = ({ pod, terminating }: PodInfo): boolean =>
  terminating &&
  (pod.status?.conditions ?? []).some(
    ({ type, status, reason }) =>
      type === 'DisruptionTarget' && status === 'True' && reason === 'PreemptionByScheduler',
  );

/** Undefined when the pod may preempt; else why not. */
export const whyNotEligible = (cycle: CycleState, pod: PodInfo, diagnosis: Diagnosis): string | undefined => {
  if (pod.pod.spec.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  const nominated = pod.pod.status?.nominatedNodeName;
  const slot = nominated ? cycle.snapshot.slotOf(nominated) : undefined;
  if (slot === undefined) return undefined;
  if ((diagnosis.statuses.get(slot) ?? diagnosis.absent)?.code === 'UnschedulableAndUnresolvable')
    return undefined;
  for (const info of cycle.snapshot.entry(slot).pods.values())
    if (info.priority < pod.priority && isBeingPreempted(info))
      return 'not eligible due to a terminating pod on the nominated node.';
  return undefined;
};

export const candidateBounds = (args: DefaultPreemptionArgs): CandidateBounds => ({
  minCandidateNodesPercentage: args.minCandidateNodesPercentage ?? CANDIDATE_PERCENTAGE,
  minCandidateNodesAbsolute: args.minCandidateNodesAbsolute ?? CANDIDATES_MIN,
});

/** Makes room for a pod that fits nowhere by evicting pods that matter less. */
export const defaultPreemption = (args: DefaultPreemptionArgs, handle: Handle): Plugin => {
  const evictions = new Evictions(handle);
  const bounds = candidateBounds(args);
  const refuse = (message: string, nominatedNodeName?: string): PostFilterResult => ({
    status: unschedulable(DEFAULT_PREEMPTION, `preemption: ${message}`),
    ...(nominatedNodeName !== undefined && { nominatedNodeName }),
  });
  return {
    name: DEFAULT_PREEMPTION,
    preEnqueue: (pod) => (evictions.isRunning(pod.metadata.uid ?? '') ? STILL_EVICTING : undefined),
    async postFilter(cycle, pod, diagnosis) {
      handle.metrics.preemptionAttempts.inc();
      const ineligible = whyNotEligible(cycle, pod, diagnosis);
      if (ineligible !== undefined) return refuse(ineligible);
      const { candidates, message } = findCandidates(handle.framework(), cycle, pod, diagnosis, {
        ...bounds,
        random: handle.random,
        budgets: handle.lister.podDisruptionBudgets(),
      });
      if (candidates.length === 0) return refuse(message, '');
      try {
        const left = await filterByPreemptingExtenders(handle, pod, candidates);
        const best = pickCandidate(left);
        if (!best) return refuse('no candidate node for preemption');
        evictions.start(pod, best);
        return { status: undefined, nominatedNodeName: best.nodeName };
      } catch (error) {
        return { status: failed(DEFAULT_PREEMPTION, `preemption: ${messageOf(error)}`, error) };
      }
    },
    // The deletion of the last victim is told to the plugins that rejected the pod; here it changes nothing.
    eventsToRegister: () => [{ resource: 'AssignedPod', action: ACTION.delete, hint: () => 'QueueSkip' }],
  };
};
