import { ACTION } from '../../framework/cluster-event.ts';
import { stateKey } from '../../framework/cycle-state.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { normalizeByMax } from '../../framework/score-table.ts';
import { skip, unresolvable } from '../../framework/status.ts';
import {
  compileNodeSelector,
  compileRequiredNodeAffinity,
  compileTerm,
  type SlotMatcher,
} from '../../cache/node-selector.ts';
import type { NodeAffinity, NodeSelectorTerm, PreferredSchedulingTerm } from '../../model/objects.ts';
import { NODE_AFFINITY } from '../../framework/plugin-names.ts';

export interface NodeAffinityArgs {
  /** Holds for every pod of the profile besides what the pod itself asks for. */
  readonly addedAffinity?: NodeAffinity;
}

interface FilterState {
  readonly pod: SlotMatcher | undefined;
  readonly added: SlotMatcher | undefined;
}

const FILTER = stateKey<FilterState>('PreFilterNodeAffinity');
const SCORE = stateKey<readonly { matches: SlotMatcher; weight: number }[]>('PreScoreNodeAffinity');

const NOT_MATCHED = unresolvable(NODE_AFFINITY, "node(s) didn't match Pod's node affinity/selector");
const NOT_ENFORCED = unresolvable(NODE_AFFINITY, "node(s) didn't match scheduler-enforced node affinity");
const CONFLICT = unresolvable(NODE_AFFINITY, 'pod affinity terms conflict');
const SKIP = skip(NODE_AFFINITY);

const namesOf = (term: NodeSelectorTerm): Set<string> | undefined => {
  let names: Set<string> | undefined;
  for (const { key, operator, values = [] } of term.matchFields ?? []) {
    if (key !== 'metadata.name' || operator !== 'In') continue;
    const before = names;
    names = before ? new Set(values.filter((value) => before.has(value))) : new Set(values);
  }
  return names;
};

/** The only nodes that can match, where every alternative names its nodes. */
const nodeNamesOf = (terms: readonly NodeSelectorTerm[]): ReadonlySet<string> | undefined => {
  const names = new Set<string>();
  for (const term of terms) {
    const found = namesOf(term);
    if (!found) return undefined;
    for (const name of found) names.add(name);
  }
  return names;
};

export const nodeAffinity = ({ addedAffinity }: NodeAffinityArgs = {}): Plugin => {
  const addedRequired = addedAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const addedPreferred = addedAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return {
    name: NODE_AFFINITY,
    preFilter(cycle, { pod: { spec } }) {
      const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
      if (!required && !addedRequired && !spec.nodeSelector) return { status: SKIP };
      cycle.write(FILTER, {
        pod: compileRequiredNodeAffinity(cycle.snapshot, spec),
        added: addedRequired && compileNodeSelector(cycle.snapshot, addedRequired),
      });
      if (!required?.nodeSelectorTerms.length) return undefined;
      const nodeNames = nodeNamesOf(required.nodeSelectorTerms);
      if (!nodeNames) return undefined;
      return nodeNames.size === 0 ? { status: CONFLICT } : { nodeNames };
    },
    filter(cycle, _, slot) {
      const state = cycle.mustRead(FILTER);
      if (state.added && !state.added(slot)) return NOT_ENFORCED;
      return state.pod && !state.pod(slot) ? NOT_MATCHED : undefined;
    },
    preScore(cycle, { pod }) {
      const own = pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
      const preferred: readonly PreferredSchedulingTerm[] = [...addedPreferred, ...own];
      if (preferred.length === 0) return SKIP;
      cycle.write(
        SCORE,
        preferred
          .filter(({ weight }) => weight !== 0)
          .map(({ weight, preference }) => ({ weight, matches: compileTerm(cycle.snapshot, preference) })),
      );
      return undefined;
    },
    score(cycle, _, slots, scores) {
      for (const { matches, weight } of cycle.mustRead(SCORE))
        for (let at = 0; at < slots.length; at += 1) if (matches(slots[at]!)) scores[at]! += weight;
      return undefined;
    },
    normalizeScores: (_cycle, _pod, _slots, scores) => normalizeByMax(scores, { reverse: false }),
    eventsToRegister: () => [{ resource: 'Node', action: ACTION.add | ACTION.updateNodeLabel }],
  };
};
