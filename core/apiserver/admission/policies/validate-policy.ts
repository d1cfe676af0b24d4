import { MESSAGE_EXPRESSION_BYTES_MAX, RUNTIME_COST_BUDGET } from '../../../cel/bounds.ts';
import { messageOf } from '../../../base/errors.ts';
import { byteLength } from '../../../api/field/go-text.ts';
import { OutOfBudget, type Evaluated, type Evaluation } from '../expressions/evaluate.ts';
import type { ConditionsResult } from '../expressions/match-conditions.ts';
import type { CompiledValidatingPolicy, CompiledValidation } from './compiled-policy.ts';

/** What one expression says about a request. */
export interface PolicyDecision {
  readonly denies: boolean;
  /** The expression could not be evaluated; the failure policy decided. */
  readonly isError: boolean;
  readonly message: string;
  readonly reason: string;
}

export interface AnnotationResult {
  readonly key: string;
  readonly value?: string;
  readonly error?: string;
}

export interface PolicyResult {
  readonly decisions: readonly PolicyDecision[];
  readonly annotations: readonly AnnotationResult[];
}

const NOTHING: PolicyResult = { decisions: [], annotations: [] };

const messageFrom = (result: Evaluated | undefined): string => {
  if (typeof result?.value !== 'string') return '';
  const message = result.value.trim();
  return byteLength(message) > MESSAGE_EXPRESSION_BYTES_MAX || message.includes('\n') ? '' : message;
};

/** Evaluates a policy for one binding and parameter, in upstream's order: conditions, validations, messages, annotations. */
export const evaluateValidatingPolicy = async (
  { validations, annotations }: CompiledValidatingPolicy,
  evaluation: Evaluation,
  failsOpen: boolean,
  conditions: () => Promise<ConditionsResult>,
): Promise<PolicyResult> => {
  const failed = (message: string): PolicyDecision => ({
    denies: !failsOpen,
    isError: true,
    message,
    reason: '',
  });
  const failure = (message: string): PolicyResult => ({ decisions: [failed(message)], annotations: [] });
  const matched = await conditions();
  if ('error' in matched) return failure(matched.error);
  if (!matched.matches) return NOTHING;
  try {
    const { results, remaining } = await evaluation.all(
      validations.map(({ expression }) => expression),
      RUNTIME_COST_BUDGET,
    );
    const messages = await messagesOf(validations, results, evaluation, remaining);
    const decisions = results.map((result, at): PolicyDecision => {
      const { expression, message, reason } = validations[at]!;
      if (result.error !== undefined) return failed(result.error);
      if (messages instanceof OutOfBudget) return failed(`failed messageExpression: ${messages.message}`);
      if (result.value === true) return { denies: false, isError: false, message: '', reason: '' };
      return {
        denies: true,
        isError: false,
        message: messageFrom(messages[at]) || message || `failed expression: ${expression.text.trim()}`,
        reason: reason || 'Invalid',
      };
    });
    const annotated = await evaluation.all(
      annotations.map(({ expression }) => expression),
      RUNTIME_COST_BUDGET,
    );
    return {
      decisions,
      annotations: annotated.results.map(({ value, error }, at): AnnotationResult => {
        const { key } = annotations[at]!;
        if (error !== undefined) return failsOpen ? { key } : { key, error };
        const text = typeof value === 'string' ? value.trim() : '';
        return text === '' ? { key } : { key, value: text };
      }),
    };
  } catch (error) {
    if (error instanceof OutOfBudget) return failure(messageOf(error));
    throw error;
  }
};

/** Messages are computed for validations that need one: upstream computes all, and uses as many. */
const messagesOf = async (
  validations: readonly CompiledValidation[],
  results: readonly Evaluated[],
  evaluation: Evaluation,
  budget: number,
): Promise<readonly Evaluated[] | OutOfBudget> => {
  const needed = validations.map(({ messageExpression }, at) =>
    results[at]?.value === false ? messageExpression : undefined,
  );
  if (needed.every((one) => one === undefined)) return [];
  try {
    return (await evaluation.all(needed, budget)).results;
  } catch (error) {
    if (error instanceof OutOfBudget) return error;
    throw error;
  }
};
