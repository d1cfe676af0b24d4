import { ACTION } from '../../framework/cluster-event.ts';
import type { ClusterLister } from '../../framework/listers.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { termMatches } from '../../model/affinity-term.ts';
import type { Pod } from '../../model/objects.ts';
import { podInfoOf } from '../../model/pod-info.ts';
import { INTER_POD_AFFINITY } from '../../framework/plugin-names.ts';
import { filterByAffinity, movePod, SKIP, writeFilterState } from './filtering.ts';
import { normalizeAffinity, scoreAffinity, writeScoreState } from './scoring.ts';

export interface InterPodAffinityArgs {
  readonly hardPodAffinityWeight?: number;
  readonly ignorePreferredTermsOfExistingPods?: boolean;
}

const HARD_POD_AFFINITY_WEIGHT = 1;

export const interPodAffinity = (args: InterPodAffinityArgs, lister: ClusterLister): Plugin => {
  const namespaceLabels = (namespace: string): ReturnType<ClusterLister['namespaceLabels']> =>
    lister.namespaceLabels(namespace);
  const options = {
    hardPodAffinityWeight: args.hardPodAffinityWeight ?? HARD_POD_AFFINITY_WEIGHT,
    ignorePreferredTermsOfExistingPods: args.ignorePreferredTermsOfExistingPods ?? false,
  };
  /** Whether the coming or going of `other` changes what the terms of either say about `pod`. */
  const concerns = (pod: Pod, other: Pod): boolean => {
    const mine = podInfoOf(pod);
    const theirs = podInfoOf(other);
    return (
      [...mine.affinity.required, ...mine.affinity.requiredAnti].some((term) =>
        termMatches(term, theirs, namespaceLabels(theirs.namespace)),
      ) ||
      theirs.affinity.requiredAnti.some((term) => termMatches(term, mine, namespaceLabels(mine.namespace)))
    );
  };
  return {
    name: INTER_POD_AFFINITY,
    preFilter: (cycle, pod) => (writeFilterState(cycle, pod, namespaceLabels) ? undefined : { status: SKIP }),
    addPod: (cycle, pod, moved, slot) => movePod(cycle, { pod, moved, slot, by: 1 }, namespaceLabels),
    removePod: (cycle, pod, moved, slot) => movePod(cycle, { pod, moved, slot, by: -1 }, namespaceLabels),
    filter: (cycle, pod, slot) => filterByAffinity(cycle, pod, slot, namespaceLabels),
    preScore: (cycle, pod) => (writeScoreState(cycle, pod, options, namespaceLabels) ? undefined : SKIP),
    score(cycle, _, slots, scores) {
      scoreAffinity(cycle, slots, scores);
      return undefined;
    },
    normalizeScores: (_cycle, _pod, _slots, scores) => normalizeAffinity(scores),
    eventsToRegister: () => [
      {
        resource: 'AssignedPod',
        action: ACTION.add | ACTION.delete | ACTION.updatePodLabel,
        hint: (pod, before, after) =>
          [before, after].some((other) => other && concerns(pod, other as Pod)) ? 'Queue' : 'QueueSkip',
      },
      { resource: 'Node', action: ACTION.add | ACTION.updateNodeLabel },
      { resource: 'TargetPod', action: ACTION.updatePodLabel },
    ],
  };
};
