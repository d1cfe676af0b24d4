import type { Clock } from '../../../base/clock.ts';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { AdmissionAttributes } from '../attributes.ts';
import type { Evaluation } from '../expressions/evaluate.ts';
import { evaluateConditions, type ConditionsResult } from '../expressions/match-conditions.ts';
import type { WebhookMetrics } from '../webhooks/metrics.ts';
import type { CompiledHead } from './compiled-policy.ts';
import type { InvocationSources } from './invocations.ts';
import type { PolicyMetrics } from './metrics.ts';
import type { PolicyTable } from './policy-table.ts';
import type { Policy } from './policy.ts';

/** What both plugins of policies need. */
export interface PolicyPluginOptions extends InvocationSources {
  readonly table: PolicyTable;
  readonly authorizer: Authorizer;
  readonly clock: Clock;
  readonly metrics: PolicyMetrics;
  readonly conditionMetrics: WebhookMetrics;
}

/** The match conditions of a policy, measured. */
export const matchConditions = async (
  policy: Policy,
  { conditions }: CompiledHead,
  evaluation: Evaluation,
  { operation }: AdmissionAttributes,
  { clock, conditionMetrics }: Pick<PolicyPluginOptions, 'clock' | 'conditionMetrics'>,
): Promise<ConditionsResult> => {
  if (conditions.length === 0) return { matches: true, failures: 0 };
  const startMs = clock.monotonicMs();
  const result = await evaluateConditions(conditions, evaluation, policy.failsOpen);
  conditionMetrics.conditions(
    { kind: 'policy', type: 'validate', name: policy.name, operation },
    {
      durationMs: clock.monotonicMs() - startMs,
      failures: result.failures,
      excluded: 'matches' in result && !result.matches,
    },
  );
  return result;
};
