import type { ClusterAction, Said } from '../../../core/contract/index.ts';
import type { LocalCluster } from '../local-clusters.ts';
import type { ActionOf, StepReport } from '../operation-runner.ts';

export type Kind = ClusterAction['kind'];

export interface RunnerContext {
  readonly cluster: LocalCluster;
  readonly report: StepReport;
  readonly signal: AbortSignal;
}

/** Does one kind of action to a cluster of this console's own. */
export type LocalRunner<K extends Kind> = (action: ActionOf<K>, context: RunnerContext) => Promise<Said>;
export type RunnersOf<K extends Kind> = { readonly [N in K]: LocalRunner<N> };
