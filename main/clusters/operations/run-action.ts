import type { ClusterAction, Said } from '../../../core/contract/index.ts';
import { etcdRunners, memberRunners, membersElsewhere } from './etcd-runners.ts';
import { componentRunners, hostRunners, hostsElsewhere } from './host-runners.ts';
import { faultRunners, faultsElsewhere } from './fault-runners.ts';
import type { Elsewhere, Kind, LocalRunner, RunnerContext, RunnersOf } from './runner.ts';
import {
  certificateRunners,
  hardenRunners,
  snapshotRunners,
  upgradeRunners,
  upkeepElsewhere,
} from './upkeep-runners.ts';

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

const ELSEWHERE: Elsewhere<LocalKind> = {
  ...hostsElsewhere,
  ...faultsElsewhere,
  ...membersElsewhere,
  ...upkeepElsewhere,
};

/**
 * Does an action to a cluster of this console's own, through the control socket where another process of this user runs
 * it. Loaded with the first action: it needs all of `core/cluster`.
 */
export const runLocalAction = (action: LocalAction, context: RunnerContext): Promise<Said> => {
  const elsewhere = context.cluster.isElsewhere ? ELSEWHERE[action.kind] : undefined;
  return ((elsewhere ?? RUNNERS[action.kind]) as LocalRunner<LocalKind>)(action, context);
};
