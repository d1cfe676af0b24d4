import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Algorithm } from '../algorithm/algorithm.ts';
import type { Snapshot } from '../cache/snapshot.ts';
import { CycleState } from '../framework/cycle-state.ts';
import { fitErrorMessage, NO_NODES_MESSAGE } from '../framework/fit-error.ts';
import type { Framework } from '../framework/framework.ts';
import type { PodDisruptionBudget } from '../framework/listers.ts';
import type { Pod } from '../model/objects.ts';
import { podInfoOf } from '../model/pod-info.ts';
import { candidateBounds, whyNotEligible } from '../plugins/default-preemption/default-preemption.ts';
import { findCandidates, pickCandidate } from '../preemption/candidates.ts';
import { explain, type Explanation, type Preemption } from './explanation.ts';

export interface WhatIfParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly snapshot: Snapshot;
  /** One that looks at every node: a question is asked to learn about all of them. */
  readonly algorithm: Algorithm;
  readonly framework: Framework;
  readonly budgets: readonly PodDisruptionBudget[];
}

/**
 * Where the pod would go now, and why. Nothing is reserved, assumed, evicted or bound; the snapshot is as it
 * was afterwards.
 */
export const answerWhatIf = async (parts: WhatIfParts, pod: Pod): Promise<Explanation> => {
  const { clock, snapshot, framework, algorithm } = parts;
  const info = podInfoOf({ ...pod, metadata: { uid: 'what-if', ...pod.metadata } });
  const startedAtMs = clock.nowMs();
  const startedMs = clock.monotonicMs();
  const cycle = new CycleState(snapshot);
  const facts = (message?: string, preemption?: Preemption) => ({
    pod: info,
    profile: framework.profileName,
    attempt: 0,
    startedAtMs,
    durationsMs: { total: clock.monotonicMs() - startedMs },
    ...(message !== undefined && { message }),
    ...(preemption && { preemption }),
  });
  if (snapshot.nodeCount === 0) {
    const status = { code: 'Unschedulable', reasons: [NO_NODES_MESSAGE], plugin: '' } as const;
    return explain(snapshot, { kind: 'error', status }, facts(NO_NODES_MESSAGE));
  }
  const gate = framework.preEnqueue(info);
  if (gate) return explain(snapshot, { kind: 'error', status: gate }, facts(gate.reasons.join(', ')));
  const decision = await algorithm.decide(framework, cycle, info, { keepRaw: true, moveStart: false });
  if (decision.kind !== 'unschedulable') return explain(snapshot, decision, facts());
  const { diagnosis } = decision;
  const ineligible = whyNotEligible(cycle, info, diagnosis);
  if (ineligible !== undefined)
    return explain(snapshot, decision, facts(fitErrorMessage(diagnosis, `preemption: ${ineligible}`)));
  const { candidates, message } = findCandidates(framework, cycle, info, diagnosis, {
    ...candidateBounds({}),
    random: parts.random,
    budgets: parts.budgets,
  });
  const best = pickCandidate(candidates);
  if (!best) return explain(snapshot, decision, facts(fitErrorMessage(diagnosis, `preemption: ${message}`)));
  const sentence = fitErrorMessage(diagnosis);
  return explain(
    snapshot,
    decision,
    facts(sentence, {
      nominatedNodeName: best.nodeName,
      victims: best.victims.map(({ key }) => key),
      message: sentence,
    }),
  );
};
