import type { StepReport } from '../../core/cluster/operation/step-report.ts';
import type { ClusterAction, Said } from '../../core/contract/index.ts';

export type ActionOf<K extends ClusterAction['kind']> = Extract<ClusterAction, { kind: K }>;

/** Does one kind of action; resolves with one sentence about the outcome, rejects with what to do. */
export type OperationRunner<K extends ClusterAction['kind']> = (
  action: ActionOf<K>,
  context: { readonly cluster: string; readonly report: StepReport; readonly signal: AbortSignal },
) => Promise<Said>;
