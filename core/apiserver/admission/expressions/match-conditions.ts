import { RUNTIME_COST_BUDGET_MATCH_CONDITIONS } from '../../../cel/bounds.ts';
import { messageOf } from '../../../base/errors.ts';
import { aggregateMessage } from '../refusal.ts';
import type { CompiledExpression } from './compile.ts';
import { OutOfBudget, type Evaluation } from './evaluate.ts';

export interface MatchCondition {
  readonly name: string;
  readonly expression: CompiledExpression;
}

/** Whether a webhook or policy is about a request; `error` fails the request. */
export type ConditionsResult =
  | { readonly matches: boolean; readonly failures: number }
  | { readonly error: string; readonly failures: number };

/**
 * One condition that is false is enough to leave a request alone. Otherwise one that fails decides by the failure
 * policy: the request fails, or is left alone.
 */
export const evaluateConditions = async (
  conditions: readonly MatchCondition[],
  evaluation: Evaluation,
  failsOpen: boolean,
): Promise<ConditionsResult> => {
  let results: Awaited<ReturnType<Evaluation['all']>>['results'];
  try {
    ({ results } = await evaluation.all(
      conditions.map(({ expression }) => expression),
      RUNTIME_COST_BUDGET_MATCH_CONDITIONS,
    ));
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error;
    return failsOpen ? { matches: false, failures: 0 } : { error: messageOf(error), failures: 0 };
  }
  const errors = results.flatMap(({ error }) => (error === undefined ? [] : [error]));
  const failures = errors.length;
  if (results.some(({ value }) => value === false)) return { matches: false, failures };
  if (failures === 0) return { matches: true, failures };
  return failsOpen ? { matches: false, failures } : { error: aggregateMessage(errors), failures };
};
