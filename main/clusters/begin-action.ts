import type { Client } from '../../core/client/index.ts';
import { actionCommand, traitsOf, type ClusterAction, type ClusterEntry } from '../../core/contract/index.ts';
import { requireSupervisor } from './hosted-cluster.ts';
import type { HostedClusters } from './hosted-clusters.ts';
import type { OperationRunner } from './operation-runner.ts';
import type { OperationBook, OperationDraft } from './operations/operation-book.ts';

/** Draining works on every cluster, through its API alone. */
export interface DrainRunner {
  readonly run: OperationRunner<'node.drain'>;
  connect(cluster: string): Promise<{ readonly client: Client }>;
}

export interface BeginOptions {
  readonly entry: ClusterEntry;
  readonly action: ClusterAction;
  readonly book: OperationBook;
  readonly hosted: HostedClusters;
  readonly drain: DrainRunner;
}

/** Recorded by the process that runs the cluster, which is this one where it has the supervisor. */
const recordedRun = (
  { entry, action, hosted }: BeginOptions,
  run: OperationDraft['run'],
): OperationDraft['run'] => {
  const timeline = hosted.find(entry.id)?.supervisor?.timeline;
  if (!timeline) return run;
  return async (report, signal) => {
    const { actionDraft } = await import('../../core/cluster/timeline/action-draft.ts');
    const { draft, failed } = actionDraft(action);
    return timeline.during(draft, failed, () => run(report, signal));
  };
};

const runOf = ({ entry, action, hosted, drain }: BeginOptions): OperationDraft['run'] => {
  if (action.kind === 'node.drain')
    return (report, signal) => drain.run(action, { cluster: entry.id, report, signal });
  const cluster = hosted.require(entry.id);
  if (!cluster.isElsewhere && !traitsOf(action).isOffline) requireSupervisor(cluster);
  return async (report, signal) => {
    const { runLocalAction } = await import('./operations/run-action.ts');
    return runLocalAction(action, { cluster, report, signal });
  };
};

/** Begins an operation; what can be refused immediately is. */
export const beginAction = (options: BeginOptions): string => {
  const { entry, action, book, hosted } = options;
  const { canPause = false, isHeldByItsHost = false } = traitsOf(action);
  const run = recordedRun(options, runOf(options));
  const place = { directory: entry.id, kubeconfigPath: entry.kubeconfigPath };
  return book.begin({
    action,
    command: actionCommand(action, place) ?? '',
    canPause: canPause && !(isHeldByItsHost && hosted.find(entry.id)?.isElsewhere === true),
    run,
  });
};
