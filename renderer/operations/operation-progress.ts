import type { Operation, OperationStep } from '../../core/contract/index.ts';

/** Steps that need no more work. */
export const endedStepCount = ({ steps }: Operation): number =>
  steps.filter(({ state }) => state === 'done' || state === 'skipped').length;

/** The step that runs, or the one that failed; its place counts from one. */
export const currentStep = (
  operation: Operation,
): { readonly step: OperationStep; readonly place: number } | undefined => {
  const index = operation.steps.findIndex(({ state }) => state === 'running' || state === 'failed');
  const step = operation.steps[index];
  return step && { step, place: index + 1 };
};

/** How long a step took, or runs already; undefined while it waits. */
export const stepDurationMs = (step: OperationStep, nowMs: number): number | undefined =>
  step.startedAtMs === null ? undefined : Math.max(0, (step.endedAtMs ?? nowMs) - step.startedAtMs);

export const operationDurationMs = (operation: Operation, nowMs: number): number =>
  Math.max(0, (operation.endedAtMs ?? nowMs) - operation.startedAtMs);
