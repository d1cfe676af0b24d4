import { OPERATOR } from '../../../core/cluster/etcd-operator/methods.ts';
import {
  compact,
  defragmentMember,
  defragmentOrder,
  etcdAccessOf,
  labelOf,
  moveLeader,
  withAny,
  type EtcdAccess,
} from '../../../core/cluster/etcd-operator/operations.ts';
import { addMember } from '../../../core/cluster/membership/add-member.ts';
import { removeMember } from '../../../core/cluster/membership/remove-member.ts';
import { inStep } from '../../../core/cluster/operation/step-report.ts';
import { say } from '../../../core/contract/index.ts';
import { ALARM_ACTION } from '../../../core/etcd/proto/index.ts';
import type { LocalCluster } from '../local-clusters.ts';
import { requireSupervisor } from '../hosted-cluster.ts';
import { askHost } from './ask-host.ts';
import { memberJoined, memberRemoved } from './end-sentences.ts';
import type { Elsewhere, RunnersOf } from './runner.ts';

const MIB = 1024 * 1024;
const mebibytes = (bytes: number): string => `${(bytes / MIB).toFixed(1)} MiB`;

const accessOf = ({ directory, config }: LocalCluster): EtcdAccess => etcdAccessOf(directory, config);
type MemberKind = 'member.moveLeader' | 'member.remove' | 'member.add';

export const memberRunners: RunnersOf<MemberKind> = {
  async 'member.moveLeader'({ member }, { cluster, report }) {
    report.plan([{ id: 'move', title: say('step.member.move', { member }) }]);
    const leader = await inStep(report, 'move', () => moveLeader(accessOf(cluster), member));
    return say('done.member.move', { member: labelOf(leader) });
  },
  async 'member.remove'({ member }, { cluster, report }) {
    return memberRemoved(await removeMember(requireSupervisor(cluster), member, report));
  },
  async 'member.add'(_action, { cluster, report }) {
    return memberJoined(await addMember(requireSupervisor(cluster), report));
  },
};

export const membersElsewhere: Elsewhere<MemberKind> = {
  async 'member.add'(_action, context) {
    return memberJoined(await askHost(context, 'member.add', {}));
  },
  async 'member.remove'({ member }, context) {
    return memberRemoved(await askHost(context, 'member.remove', { member }));
  },
};

export const etcdRunners: RunnersOf<'etcd.defragment' | 'etcd.compact' | 'etcd.disarm'> = {
  async 'etcd.defragment'({ member }, { cluster, report }) {
    const access = accessOf(cluster);
    const members = await defragmentOrder(access, member);
    report.plan(
      members.map((one) => ({ id: one.id, title: say('step.etcd.defragment', { member: labelOf(one) }) })),
    );
    let freedBytes = 0;
    for (const before of members)
      await inStep(
        report,
        before.id,
        async () => {
          const after = await defragmentMember(access, before);
          const bytes = [before.status?.dbBytes ?? 0, after.status?.dbBytes ?? 0] as const;
          freedBytes += Math.max(0, bytes[0] - bytes[1]);
          return bytes;
        },
        ([was, is]) => say('detail.fromTo', { before: mebibytes(was), after: mebibytes(is) }),
      );
    return say('done.etcd.defragment', {
      members: members.map(labelOf).join(', '),
      size: mebibytes(freedBytes),
    });
  },
  async 'etcd.compact'({ revision }, { cluster, report }) {
    report.plan([{ id: 'compact', title: say('step.etcd.compact') }]);
    const at = await inStep(
      report,
      'compact',
      () => compact(accessOf(cluster), revision ?? undefined),
      (done) => say('detail.upToRevision', { revision: `${done}` }),
    );
    return say('done.etcd.compact', { revision: `${at}` });
  },
  async 'etcd.disarm'(_action, { cluster, report }) {
    report.plan([{ id: 'disarm', title: say('step.etcd.disarm') }]);
    const count = await inStep(report, 'disarm', () =>
      withAny(accessOf(cluster), async (member) => {
        const { alarms } = await member.call(OPERATOR.alarm, { action: ALARM_ACTION.GET });
        for (const { memberID, alarm } of alarms)
          await member.call(OPERATOR.alarm, { action: ALARM_ACTION.DEACTIVATE, memberID, alarm });
        return alarms.length;
      }),
    );
    return count === 0 ? say('done.etcd.noAlarms') : say('done.etcd.disarm', { count });
  },
};
