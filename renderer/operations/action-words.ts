import type { ClusterAction, FaultRequest } from '../../core/contract/index.ts';
import type { IconName } from '../components/icon-names.ts';
import { t } from '../locales/i18n.ts';

const fileName = (path: string): string => path.split(/[/\\]/).at(-1) ?? path;

/** What is broken, in the words of the button: "Cut cp-1 from cp-2". */
const faultTitle = (fault: FaultRequest): string => {
  switch (fault.kind) {
    case 'cut':
      return t(fault.isOneWay ? 'action.fault.cut.oneWay' : 'action.fault.cut', {
        from: fault.from,
        to: fault.to,
      });
    case 'delay':
      return t(fault.isOneWay ? 'action.fault.delay.oneWay' : 'action.fault.delay', {
        from: fault.from,
        to: fault.to,
        ms: fault.delayMs,
      });
    case 'slow-disk':
      return t('action.fault.slowDisk', { host: fault.host, ms: fault.delayMs });
    case 'clock':
      return t(fault.offsetMs < 0 ? 'action.fault.clock.behind' : 'action.fault.clock.ahead', {
        host: fault.host,
        ms: Math.abs(fault.offsetMs),
      });
  }
};

/** Verb and object, as on the button: "Kill cp-2". */
export const actionTitle = (action: ClusterAction): string => {
  switch (action.kind) {
    case 'host.kill':
    case 'host.stop':
    case 'host.start':
    case 'host.restart':
    case 'host.pause':
    case 'host.resume':
      return t(`action.${action.kind}`, { host: action.host });
    case 'component.kill':
    case 'component.stop':
    case 'component.start':
      return t(`action.${action.kind}`, { host: action.host, component: action.component });
    case 'component.flags':
      return t('action.component.flags', { component: action.component });
    case 'fault.add':
      return faultTitle(action.fault);
    case 'fault.isolate':
      return t('action.fault.isolate', { host: action.host });
    case 'fault.heal':
      return action.id === 'all' ? t('action.fault.heal.all') : t('action.fault.heal', { id: action.id });
    case 'member.moveLeader':
    case 'member.remove':
      return t(`action.${action.kind}`, { member: action.member });
    case 'etcd.defragment':
      return action.member === null
        ? t('action.etcd.defragment.all')
        : t('action.etcd.defragment', { member: action.member });
    case 'etcd.compact':
      return action.revision === null
        ? t('action.etcd.compact')
        : t('action.etcd.compact.to', { revision: action.revision });
    case 'snapshot.restore':
    case 'snapshot.delete':
      return t(`action.${action.kind}`, { file: fileName(action.file) });
    case 'upgrade.apply':
      return t('action.upgrade.apply', { version: action.version });
    case 'certificates.renew':
      return action.names === null
        ? t('action.certificates.renew.all')
        : t('action.certificates.renew', { count: action.names.length });
    case 'node.drain':
      return t('action.node.drain', { node: action.node });
    case 'member.add':
    case 'etcd.disarm':
    case 'snapshot.save':
    case 'upgrade.rollback':
    case 'harden.apply':
    case 'harden.rollback':
    case 'encryption.enable':
    case 'encryption.rotate':
      return t(`action.${action.kind}`);
  }
};

export const actionQuestion = (action: ClusterAction): string =>
  t('action.question', { title: actionTitle(action) });

/** One sentence about what the action is; undefined where the title says it all. */
export const actionMeaning = (action: ClusterAction): string | undefined => {
  switch (action.kind) {
    case 'host.kill':
    case 'host.stop':
    case 'host.start':
    case 'host.restart':
    case 'host.pause':
    case 'host.resume':
    case 'component.kill':
    case 'component.stop':
    case 'component.start':
    case 'component.flags':
    case 'snapshot.save':
    case 'snapshot.delete':
      return t(`action.means.${action.kind}`);
    case 'fault.add':
      return t(`action.means.fault.${action.fault.kind}`);
    case 'fault.isolate':
      return t('action.means.fault.isolate');
    case 'fault.heal':
    case 'member.moveLeader':
    case 'member.remove':
    case 'member.add':
    case 'etcd.defragment':
    case 'etcd.compact':
    case 'etcd.disarm':
    case 'snapshot.restore':
    case 'upgrade.apply':
    case 'upgrade.rollback':
    case 'harden.apply':
    case 'harden.rollback':
    case 'encryption.enable':
    case 'encryption.rotate':
    case 'certificates.renew':
    case 'node.drain':
      return undefined;
  }
};

/** The object that a person types by hand before an action that cannot be taken back. */
export const actionSubject = (action: ClusterAction): string | undefined => {
  switch (action.kind) {
    case 'host.kill':
    case 'host.stop':
    case 'host.start':
    case 'host.restart':
    case 'host.pause':
    case 'host.resume':
    case 'fault.isolate':
      return action.host;
    case 'fault.add':
      return 'host' in action.fault ? action.fault.host : action.fault.from;
    case 'component.kill':
    case 'component.stop':
    case 'component.start':
    case 'component.flags':
      return action.component;
    case 'member.moveLeader':
    case 'member.remove':
      return action.member;
    case 'etcd.defragment':
      return action.member ?? undefined;
    case 'snapshot.restore':
    case 'snapshot.delete':
      return fileName(action.file);
    case 'upgrade.apply':
      return action.version;
    case 'node.drain':
      return action.node;
    case 'fault.heal':
    case 'member.add':
    case 'etcd.compact':
    case 'etcd.disarm':
    case 'snapshot.save':
    case 'upgrade.rollback':
    case 'harden.apply':
    case 'harden.rollback':
    case 'encryption.enable':
    case 'encryption.rotate':
    case 'certificates.renew':
      return undefined;
  }
};

export const actionIcon = (action: ClusterAction): IconName => {
  switch (action.kind) {
    case 'host.kill':
    case 'component.kill':
      return 'drill';
    case 'host.stop':
    case 'component.stop':
      return 'stopped';
    case 'host.start':
    case 'host.resume':
    case 'component.start':
      return 'play';
    case 'host.pause':
      return 'pause';
    case 'fault.add':
    case 'fault.isolate':
      return 'unplug';
    case 'fault.heal':
      return 'ok';
    case 'member.moveLeader':
      return 'leader';
    case 'member.remove':
    case 'snapshot.delete':
      return 'trash';
    case 'member.add':
      return 'plus';
    case 'etcd.defragment':
    case 'etcd.compact':
    case 'etcd.disarm':
      return 'storage';
    case 'snapshot.save':
      return 'snapshot';
    case 'component.flags':
      return 'editor';
    case 'host.restart':
    case 'snapshot.restore':
    case 'upgrade.rollback':
    case 'harden.rollback':
      return 'restart';
    case 'upgrade.apply':
      return 'upgrade';
    case 'harden.apply':
    case 'encryption.enable':
      return 'lock';
    case 'encryption.rotate':
      return 'restart';
    case 'certificates.renew':
      return 'cert';
    case 'node.drain':
      return 'unplug';
  }
};

/** What cannot be taken back by a second click: it is always typed, whatever quorum says. */
const ALWAYS_TYPED: readonly ClusterAction['kind'][] = ['member.remove', 'snapshot.restore'];
/** What only brings something back or adds a copy: never typed, even while the cluster is down. */
const NEVER_TYPED: readonly ClusterAction['kind'][] = [
  'host.start',
  'host.resume',
  'component.start',
  'fault.heal',
  'member.add',
  'snapshot.save',
];

/** Whether the object's name has to be typed. Without a verdict the worst is assumed. */
export const needsTyping = (
  action: ClusterAction,
  verdict: 'safe' | 'degraded' | 'outage' | undefined,
): boolean => {
  if (ALWAYS_TYPED.includes(action.kind)) return true;
  if (NEVER_TYPED.includes(action.kind)) return false;
  return verdict === undefined || verdict === 'outage';
};
