import type { ClusterAction, Said } from '../../core/contract/index.ts';

/** How an operation tells its steps while it is at them. */
export interface StepReport {
  /** All steps in order, before the first begins; may be called again when more is known. */
  plan(steps: readonly { readonly id: string; readonly title: Said }[]): void;
  begin(id: string): void;
  detail(id: string, detail: Said | null): void;
  end(id: string, detail?: Said): void;
  /** Between steps: waits while the operation is paused. */
  checkpoint(): Promise<void>;
}

export type ActionOf<K extends ClusterAction['kind']> = Extract<ClusterAction, { kind: K }>;

/** Does one kind of action; resolves with one sentence about the outcome, rejects with what to do. */
export type OperationRunner<K extends ClusterAction['kind']> = (
  action: ActionOf<K>,
  context: { readonly cluster: string; readonly report: StepReport; readonly signal: AbortSignal },
) => Promise<Said>;
