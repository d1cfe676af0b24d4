import type { ClusterAction } from '../../../core/contract/index.ts';

const PLAIN = /^[\w@%+=:,./-]+$/;

/** As a POSIX shell reads it back. */
export const quoted = (word: string): string =>
  PLAIN.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

const wordsOf = (action: ClusterAction): readonly string[] => {
  switch (action.kind) {
    case 'host.kill':
    case 'host.stop':
    case 'host.start':
    case 'host.pause':
    case 'host.resume':
      return ['host', action.kind.slice('host.'.length), action.host];
    case 'component.kill':
    case 'component.stop':
    case 'component.start':
      return ['host', action.kind.slice('component.'.length), action.host, action.component];
    case 'member.moveLeader':
      return ['member', 'move-leader', action.member];
    case 'member.remove':
      return ['member', 'remove', action.member];
    case 'member.add':
      return ['member', 'add'];
    case 'etcd.defragment':
      return ['defrag', ...(action.member === null ? [] : [action.member])];
    case 'etcd.compact':
      return ['compact', ...(action.revision === null ? [] : [String(action.revision)])];
    case 'etcd.disarm':
      return ['member', 'disarm'];
    case 'snapshot.save':
      return ['snapshot', 'save'];
    case 'snapshot.restore':
      return ['snapshot', 'restore', action.file];
    case 'snapshot.delete':
      return ['snapshot', 'delete', action.file];
    case 'upgrade.apply':
      return ['upgrade', 'apply', action.version];
    case 'upgrade.rollback':
      return ['upgrade', 'rollback'];
    case 'certificates.renew':
      return ['certs', 'renew', ...(action.names ?? ['all'])];
    case 'node.drain':
      return [];
  }
};

const drainOf = (action: Extract<ClusterAction, { kind: 'node.drain' }>, kubeconfig: string): string[] => [
  'kubectl',
  '--kubeconfig',
  kubeconfig,
  'drain',
  action.node,
  ...(action.ignoreDaemonSets ? ['--ignore-daemonsets'] : []),
  ...(action.deleteEmptyDirData ? ['--delete-emptydir-data'] : []),
  ...(action.force ? ['--force'] : []),
  ...(action.gracePeriodSeconds === null ? [] : [`--grace-period=${action.gracePeriodSeconds}`]),
];

/** The same on a command line. */
export const commandOf = (
  action: ClusterAction,
  { directory, kubeconfigPath }: { readonly directory: string; readonly kubeconfigPath: string },
): string => {
  const words =
    action.kind === 'node.drain'
      ? drainOf(action, kubeconfigPath)
      : ['pilothouse', ...wordsOf(action), '--data', directory];
  return words.map(quoted).join(' ');
};
