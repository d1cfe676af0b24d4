import type { Supervisor } from '../../../core/cluster/index.ts';
import { ContractError, type ClusterAction } from '../../../core/contract/index.ts';
import type { StepReport } from '../operation-runner.ts';
import { componentRunners, hostRunners, type LocalRunner } from './host-runners.ts';

type Kind = ClusterAction['kind'];
type LocalRunners = { readonly [K in Kind]?: LocalRunner<K> };

const RUNNERS: LocalRunners = { ...hostRunners, ...componentRunners };

/** Does an action to a cluster that runs here. */
export const runLocalAction = async (
  action: ClusterAction,
  supervisor: Supervisor,
  report: StepReport,
  signal: AbortSignal,
): Promise<string> => {
  const run = RUNNERS[action.kind] as LocalRunner<Kind> | undefined;
  if (!run) throw new ContractError('Unimplemented', `${action.kind} cannot be done here`);
  return run(action, supervisor, report, signal);
};
