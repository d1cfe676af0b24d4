import type { ClusterAction, EtcdMember } from '../../../core/contract/index.ts';
import { quoted } from '../../../core/base/shell-words.ts';

const wordsOf = (
  action: ClusterAction,
  members: readonly EtcdMember[],
): { readonly words: readonly string[]; readonly at: readonly EtcdMember[] } | undefined => {
  const named = (name: string): EtcdMember | undefined => members.find((member) => member.name === name);
  const answering = members.filter(({ role }) => role !== 'unreachable');
  const leader = members.filter(({ role }) => role === 'leader');
  const { kind } = action;
  // Only the leader moves its lead; anywhere else it is refused.
  if (kind === 'member.moveLeader')
    return { words: ['move-leader', named(action.member)?.id ?? action.member], at: leader };
  if (kind === 'member.remove')
    return { words: ['member', 'remove', named(action.member)?.id ?? action.member], at: leader };
  if (kind === 'etcd.disarm') return { words: ['alarm', 'disarm'], at: leader };
  if (kind === 'etcd.defragment') {
    const one = action.member === null ? undefined : named(action.member);
    return { words: ['defrag'], at: one ? [one] : answering };
  }
  if (kind !== 'etcd.compact') return undefined;
  const revision = action.revision ?? Math.max(0, ...answering.map((member) => member.revision));
  return { words: ['compact', `${revision}`], at: leader };
};

/** The line that asks etcd itself for the same, with the certificates of the cluster; undefined where there is none. */
export const etcdctlLine = (
  action: ClusterAction,
  members: readonly EtcdMember[],
  directory: string | undefined,
): string | undefined => {
  const found = wordsOf(action, members);
  if (!found || directory === undefined) return undefined;
  const at = found.at.length > 0 ? found.at : members;
  const folder = `${directory}/pki`;
  return [
    'etcdctl',
    `--endpoints=${at.map(({ clientUrl }) => clientUrl).join(',')}`,
    `--cacert=${folder}/etcd/ca.crt`,
    `--cert=${folder}/etcd/healthcheck-client.crt`,
    `--key=${folder}/etcd/healthcheck-client.key`,
    ...found.words,
  ]
    .map(quoted)
    .join(' ');
};
