import { ReasonError } from '../../core/base/errors.ts';
import type { Client } from '../../core/client/index.ts';
import { checkReach } from '../../core/cluster/network-policy/check-reach.ts';
import { ContractError, say, type ReachAnswer, type ReachQuestion } from '../../core/contract/index.ts';
import type { SideVerdict } from '../../core/network-policy/index.ts';

const sideOf = ({ isAllowed, isolating, allowedBy }: SideVerdict): ReachAnswer['egress'] => ({
  isAllowed,
  isolating: [...isolating],
  allowedBy: allowedBy ? { policy: allowedBy.policy, rule: allowedBy.rule + 1 } : null,
});

/** Whether one end may connect to another by the NetworkPolicies of a cluster, as the pages show it. */
export const reach = async (
  client: Client,
  question: Omit<ReachQuestion, 'cluster'>,
): Promise<ReachAnswer> => {
  try {
    const { connection, verdict } = await checkReach(client, question);
    const ends = ['from', 'to'] as const;
    return {
      isAllowed: verdict.isAllowed,
      exemption: verdict.exemption ?? null,
      egress: sideOf(verdict.egress),
      ingress: sideOf(verdict.ingress),
      outside: ends.filter((end) => connection[end].pod === undefined),
    };
  } catch (error) {
    const isUnknown = error instanceof ReasonError && ['NotFound', 'NotReady'].includes(error.reason);
    if (!isUnknown) throw error;
    const { from, to } = question;
    throw new ContractError('NotFound', say('failure.reachEnds', { from, to }), { cause: error });
  }
};
