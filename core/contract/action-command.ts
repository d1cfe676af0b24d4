import { shellLine } from '../base/shell-words.ts';
import type { FaultRequest } from './schemas/fault.ts';
import type { HardeningWishes } from './schemas/harden.ts';
import type { ClusterAction } from './schemas/local-cluster.ts';

const faultWords = (fault: FaultRequest): readonly string[] => {
  switch (fault.kind) {
    case 'cut':
      return ['cut', fault.from, fault.to, ...(fault.isOneWay ? ['--one-way'] : [])];
    case 'delay':
      return ['delay', fault.from, fault.to, `${fault.delayMs}`, ...(fault.isOneWay ? ['--one-way'] : [])];
    case 'slow-disk':
      return ['slow-disk', fault.host, `${fault.delayMs}`];
    case 'clock':
      return ['clock', fault.host, fault.offsetMs < 0 ? `${fault.offsetMs}` : `+${fault.offsetMs}`];
  }
};

const hardeningWords = ({ skip, backupDirectory, oidc }: HardeningWishes): readonly string[] => [
  ...(skip.length === 0 ? [] : ['--skip', skip.join(',')]),
  ...(backupDirectory === null ? [] : ['--backup-directory', backupDirectory]),
  ...(oidc === null
    ? []
    : [
        '--oidc-issuer-url',
        oidc.issuerUrl,
        '--oidc-client-id',
        oidc.clientId,
        '--oidc-username-claim',
        oidc.usernameClaim,
        ...(oidc.groupsClaim === null ? [] : ['--oidc-groups-claim', oidc.groupsClaim]),
      ]),
];

const wordsOf = (action: ClusterAction): readonly string[] | undefined => {
  switch (action.kind) {
    case 'host.kill':
    case 'host.stop':
    case 'host.start':
    case 'host.restart':
    case 'host.pause':
    case 'host.resume':
      return ['host', action.kind.slice('host.'.length), action.host];
    case 'component.kill':
    case 'component.stop':
    case 'component.start':
      return ['host', action.kind.slice('component.'.length), action.host, action.component];
    case 'component.flags':
      return undefined;
    case 'fault.add':
      return ['fault', ...faultWords(action.fault)];
    case 'fault.isolate':
      return ['fault', 'isolate', action.host];
    case 'fault.heal':
      return ['fault', 'heal', action.id];
    case 'member.moveLeader':
      return ['member', 'move-leader', action.member];
    case 'member.remove':
      return ['member', 'remove', action.member];
    case 'etcd.defragment':
      return action.member === null ? ['defrag'] : undefined;
    case 'etcd.compact':
      return ['compact', ...(action.revision === null ? [] : [`${action.revision}`])];
    case 'member.add':
      return ['member', 'add'];
    case 'snapshot.save':
      return ['snapshot', 'save'];
    case 'snapshot.restore':
      return ['snapshot', 'restore', action.file];
    case 'upgrade.apply':
      return ['upgrade', 'apply', action.version];
    case 'upgrade.rollback':
      return ['upgrade', 'rollback'];
    case 'encryption.enable':
    case 'encryption.rotate':
      return ['encryption', action.kind.slice('encryption.'.length)];
    case 'harden.apply':
      return ['harden', 'apply', ...hardeningWords(action.wishes)];
    case 'harden.rollback':
      return ['harden', 'rollback'];
    case 'certificates.renew':
      if (action.names === null) return ['certs', 'renew', 'all'];
      return action.names.length === 1 ? ['certs', 'renew', ...action.names] : undefined;
    // The command line has no word for these.
    case 'etcd.disarm':
    case 'snapshot.delete':
    case 'node.drain':
      return undefined;
  }
};

const drainWords = (action: Extract<ClusterAction, { kind: 'node.drain' }>): readonly string[] => [
  'drain',
  action.node,
  ...(action.ignoreDaemonSets ? ['--ignore-daemonsets'] : []),
  ...(action.deleteEmptyDirData ? ['--delete-emptydir-data'] : []),
  ...(action.force ? ['--force'] : []),
  ...(action.gracePeriodSeconds === null ? [] : [`--grace-period=${action.gracePeriodSeconds}`]),
];

/** Where a command line finds the cluster: the data folder of one of ours, a kubeconfig of any. */
export interface CommandTarget {
  readonly directory: string | undefined;
  readonly kubeconfigPath: string | undefined;
}

/** The line that does the same in a shell; undefined where there is none. */
export const actionCommand = (action: ClusterAction, target: CommandTarget): string | undefined => {
  if (action.kind === 'node.drain')
    return shellLine([
      'kubectl',
      ...(target.kubeconfigPath === undefined ? [] : ['--kubeconfig', target.kubeconfigPath]),
      ...drainWords(action),
    ]);
  if (action.kind === 'snapshot.delete') return shellLine(['rm', action.file]);
  const words = wordsOf(action);
  return (
    words &&
    shellLine([
      'pilothouse',
      ...words,
      ...(target.directory === undefined ? [] : ['--data', target.directory]),
    ])
  );
};
