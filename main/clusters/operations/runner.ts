import type { ClusterAction, Said } from '../../../core/contract/index.ts';
import type { LocalCluster } from '../local-clusters.ts';
import type { StepReport } from '../../../core/cluster/operation/step-report.ts';
import type { ActionOf } from '../operation-runner.ts';

export type Kind = ClusterAction['kind'];

export interface RunnerContext {
  readonly cluster: LocalCluster;
  readonly report: StepReport;
  readonly signal: AbortSignal;
}

/** Does one kind of action. */
export type LocalRunner<K extends Kind> = (action: ActionOf<K>, context: RunnerContext) => Promise<Said>;
export type RunnersOf<K extends Kind> = { readonly [N in K]: LocalRunner<N> };
/** For clusters that another process of this user runs; what is not listed is done on the directory and with etcd itself. */
export type Elsewhere<K extends Kind> = { readonly [N in K]?: LocalRunner<N> };
