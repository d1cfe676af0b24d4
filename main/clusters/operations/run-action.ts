import type { ClusterAction, Said } from '../../../core/contract/index.ts';
import { etcdRunners, memberRunners } from './etcd-runners.ts';
import { componentRunners, hostRunners } from './host-runners.ts';
import { faultRunners } from './fault-runners.ts';
import type { Kind, LocalRunner, RunnerContext, RunnersOf } from './runner.ts';
import { certificateRunners, hardenRunners, snapshotRunners, upgradeRunners } from './upkeep-runners.ts';

type LocalKind = Exclude<Kind, 'node.drain'>;
export type LocalAction = Exclude<ClusterAction, { kind: 'node.drain' }>;

const RUNNERS: RunnersOf<LocalKind> = {
  ...hostRunners,
  ...componentRunners,
  ...faultRunners,
  ...memberRunners,
  ...etcdRunners,
  ...snapshotRunners,
  ...upgradeRunners,
  ...hardenRunners,
  ...certificateRunners,
};

/** Does an action to a cluster of this console's own. Loaded with the first action: it needs all of `core/cluster`. */
export const runLocalAction = (action: LocalAction, context: RunnerContext): Promise<Said> =>
  (RUNNERS[action.kind] as LocalRunner<LocalKind>)(action, context);
