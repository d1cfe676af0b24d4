import { saveClusterSnapshot } from '../../../core/cluster/backup/save-snapshot.ts';
import { callControl } from '../../../core/cluster/control/client.ts';
import type { ControlMethod, ParamsOf, ResultOf } from '../../../core/cluster/control/protocol.ts';
import { inStep } from '../../../core/cluster/operation/step-report.ts';
import { say, verbatim, type Said } from '../../../core/contract/index.ts';
import { BUMP_REVISION_DEFAULT } from '../../../core/etcd/snapshot/index.ts';
import {
  encrypted,
  faultAdded,
  faultsHealed,
  hardened,
  hardeningRolledBack,
  hostIsolated,
  memberJoined,
  memberRemoved,
  rolledBack,
  snapshotRestored,
  snapshotSaved,
  upgraded,
} from './end-sentences.ts';
import { runLocalAction, type LocalAction } from './run-action.ts';
import type { RunnerContext } from './runner.ts';

/** Asks the process that runs the cluster; the lines it tells on the way are the detail of the one step. */
const ask = <M extends ControlMethod>(
  { cluster, report }: RunnerContext,
  method: M,
  params: ParamsOf<M>,
): Promise<ResultOf<M>> => {
  report.plan([{ id: method, title: say('step.elsewhere') }]);
  return inStep(report, method, () =>
    callControl(cluster.directory, method, params, (line) => report.detail(method, verbatim(line))),
  );
};

/** Does an action to a cluster that another process of this user runs, by the socket that its command line uses too. */
export const runElsewhere = async (action: LocalAction, context: RunnerContext): Promise<Said> => {
  const { cluster, report } = context;
  const { name } = cluster.state();
  switch (action.kind) {
    case 'host.kill':
    case 'host.stop':
    case 'host.start':
    case 'host.restart':
    case 'host.pause':
    case 'host.resume':
      await ask(context, action.kind, { host: action.host });
      return say('done.elsewhere.host', { host: action.host, cluster: name });
    case 'component.kill':
    case 'component.stop':
    case 'component.start':
      await ask(context, action.kind, { host: action.host, component: action.component });
      return say('done.elsewhere.component', {
        component: action.component,
        host: action.host,
        cluster: name,
      });
    // Needs the supervisor, which waits for each component: refused with where to do it.
    case 'component.flags':
      return runLocalAction(action, context);
    case 'fault.add':
      return faultAdded(await ask(context, 'fault.add', { request: JSON.stringify(action.fault) }));
    case 'fault.isolate':
      return hostIsolated(action.host, await ask(context, 'fault.isolate', { host: action.host }));
    case 'fault.heal':
      return faultsHealed(await ask(context, 'fault.heal', { id: action.id }));
    case 'member.add':
      return memberJoined(await ask(context, 'member.add', {}));
    case 'member.remove':
      return memberRemoved(await ask(context, 'member.remove', { member: action.member }));
    case 'snapshot.save': {
      const { directory, config } = cluster;
      return snapshotSaved(await saveClusterSnapshot({ folder: { directory }, config }, { report }));
    }
    case 'snapshot.restore': {
      const params = { file: action.file, bumpRevision: BUMP_REVISION_DEFAULT };
      return snapshotRestored(await ask(context, 'snapshot.restore', params));
    }
    case 'upgrade.apply':
      return upgraded(await ask(context, 'upgrade.apply', { version: action.version }));
    case 'upgrade.rollback':
      return rolledBack(await ask(context, 'upgrade.rollback', {}));
    case 'encryption.enable':
    case 'encryption.rotate':
      return encrypted(await ask(context, action.kind, {}));
    case 'harden.apply':
      return hardened(await ask(context, 'harden.apply', { wishes: JSON.stringify(action.wishes) }));
    case 'harden.rollback':
      return hardeningRolledBack(await ask(context, 'harden.rollback', {}));
    // Done on the folder and with etcd itself: the process that runs the cluster is not needed.
    case 'member.moveLeader':
    case 'etcd.defragment':
    case 'etcd.compact':
    case 'etcd.disarm':
    case 'snapshot.delete':
    case 'certificates.renew':
      return runLocalAction(action, context);
  }
};
