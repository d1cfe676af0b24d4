import type { ClusterAction, EtcdMember } from '../../../core/contract/index.ts';
import type { IconName } from '../../components/icon-names.ts';
import { formatBytes, formatCount } from '../../locales/format.ts';
import { t } from '../../locales/i18n.ts';
import { freeBytes } from './member-health.ts';
import { successorOf } from './quorum.ts';

export interface EtcdAct {
  readonly id: 'move' | 'add' | 'defragment' | 'compact' | 'disarm';
  readonly icon: IconName;
  readonly title: string;
  /** What follows from it, or why it cannot be done. */
  readonly hint: string;
  readonly key?: string;
  /** Undefined while it cannot be done. */
  readonly action: ClusterAction | undefined;
}

/** What can be done with etcd as a whole, with its consequence in figures. */
export const etcdActs = (members: readonly EtcdMember[]): readonly EtcdAct[] => {
  const answering = members.filter(({ role }) => role !== 'unreachable');
  const next = successorOf(members);
  const free = answering.reduce((sum, member) => sum + freeBytes(member), 0);
  const revision = Math.max(0, ...answering.map((member) => member.revision));
  const alarms = members.reduce((sum, member) => sum + member.alarms.length, 0);
  const isSilent = answering.length === 0;
  return [
    {
      id: 'move',
      icon: 'leader',
      title: t('raft.act.move'),
      hint: next === undefined ? t('raft.act.move.why') : t('raft.act.move.hint', { member: next }),
      key: 'M',
      action: next === undefined ? undefined : { kind: 'member.moveLeader', member: next },
    },
    {
      id: 'add',
      icon: 'plus',
      title: t('raft.act.add'),
      hint: isSilent ? t('raft.silent.title') : t('raft.act.add.hint'),
      key: 'A',
      action: isSilent ? undefined : { kind: 'member.add' },
    },
    {
      id: 'defragment',
      icon: 'storage',
      title: t('raft.act.defragment'),
      hint: isSilent ? t('raft.silent.title') : t('raft.act.defragment.hint', { size: formatBytes(free) }),
      key: 'D',
      action: isSilent ? undefined : { kind: 'etcd.defragment', member: null },
    },
    {
      id: 'compact',
      icon: 'restart',
      title: t('raft.act.compact'),
      hint: isSilent
        ? t('raft.silent.title')
        : t('raft.act.compact.hint', { revision: formatCount(revision) }),
      key: 'C',
      action: isSilent ? undefined : { kind: 'etcd.compact', revision: null },
    },
    {
      id: 'disarm',
      icon: 'bell',
      title: t('raft.act.disarm'),
      hint: alarms === 0 ? t('raft.act.disarm.why') : t('raft.act.disarm.hint', { count: alarms }),
      action: alarms === 0 ? undefined : { kind: 'etcd.disarm' },
    },
  ];
};
