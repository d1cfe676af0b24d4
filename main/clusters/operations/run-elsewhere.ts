import { saveClusterSnapshot } from '../../../core/cluster/backup/save-snapshot.ts';
import { callControl } from '../../../core/cluster/control/client.ts';
import type { ControlMethod, ParamsOf, ResultOf } from '../../../core/cluster/control/protocol.ts';
import { inStep } from '../../../core/cluster/operation/step-report.ts';
import { BUMP_REVISION_DEFAULT } from '../../../core/etcd/snapshot/index.ts';
import { runLocalAction, type LocalAction } from './run-action.ts';
import type { RunnerContext } from './runner.ts';

/** Asks the process that runs the cluster; the lines it tells on the way are the detail of the one step. */
const ask = <M extends ControlMethod>(
  { cluster, report }: RunnerContext,
  method: M,
  params: ParamsOf<M>,
): Promise<ResultOf<M>> => {
  report.plan([{ id: method, title: 'By the process that runs the cluster' }]);
  return inStep(report, method, () =>
    callControl(cluster.directory, method, params, (line) => report.detail(method, line)),
  );
};

const members = (count: number): string => `${count} ${count === 1 ? 'member' : 'members'}`;

/** Does an action to a cluster that another process of this user runs, by the socket that its command line uses too. */
export const runElsewhere = async (action: LocalAction, context: RunnerContext): Promise<string> => {
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
      return `The process that runs ${name} has done it to ${action.host}.`;
    case 'component.kill':
    case 'component.stop':
    case 'component.start':
      await ask(context, action.kind, { host: action.host, component: action.component });
      return `The process that runs ${name} has done it to ${action.component} on ${action.host}.`;
    case 'fault.add': {
      const { id, text } = await ask(context, 'fault.add', { request: JSON.stringify(action.fault) });
      return `Fault ${id}: ${text}.`;
    }
    case 'fault.isolate': {
      const cuts = await ask(context, 'fault.isolate', { host: action.host });
      return `${action.host} reaches nobody and nobody reaches it: ${cuts.length} links are cut.`;
    }
    case 'fault.heal': {
      const healed = await ask(context, 'fault.heal', { id: action.id });
      return healed.length === 0
        ? 'Nothing was broken on purpose.'
        : `Healed: ${healed.map(({ text }) => text).join('; ')}.`;
    }
    case 'member.add': {
      const added = await ask(context, 'member.add', {});
      return `${added.host} joined; etcd has ${members(added.members)} now.`;
    }
    case 'member.remove': {
      const removed = await ask(context, 'member.remove', { member: action.member });
      return `${removed.host} was removed; etcd has ${members(removed.members)} now.`;
    }
    case 'snapshot.save': {
      const { directory, config } = cluster;
      const saved = await saveClusterSnapshot({ folder: { directory }, config }, { report });
      return `${saved.totalKey} keys at revision ${saved.revision} are saved in ${saved.file}.`;
    }
    case 'snapshot.restore': {
      const params = { file: action.file, bumpRevision: BUMP_REVISION_DEFAULT };
      const restored = await ask(context, 'snapshot.restore', params);
      return `${restored.entries} rows are restored into ${members(restored.members)}.`;
    }
    case 'upgrade.apply': {
      const { from, to } = await ask(context, 'upgrade.apply', { version: action.version });
      return `Upgraded from ${from} to ${to}.`;
    }
    case 'upgrade.rollback': {
      const { from, to } = await ask(context, 'upgrade.rollback', {});
      return `Back from ${from} to ${to}.`;
    }
    // By the folder and by etcd itself: whoever runs the cluster is not asked.
    case 'member.moveLeader':
    case 'etcd.defragment':
    case 'etcd.compact':
    case 'etcd.disarm':
    case 'snapshot.delete':
    case 'certificates.renew':
      return runLocalAction(action, context);
  }
};
