import type { EtcdMember, EtcdView, LocalClusterState } from '../../../../core/contract/index.ts';

export type Vote = Pick<EtcdMember, 'id' | 'name' | 'role'> & {
  /** Undefined where etcd itself was not asked. */
  readonly log: { readonly term: number; readonly index: number; readonly lag: number } | undefined;
};

const hostOf = (state: LocalClusterState, member: EtcdMember): string => {
  const known = state.hosts.find(
    ({ name, address }) =>
      name === member.host || name === member.name || member.clientUrl.includes(`//${address}:`),
  );
  return known?.name ?? (member.name || member.id);
};

/** What hosts say of their members: who does not answer the monitor may well vote. */
const votesOfHosts = ({ hosts, topology }: LocalClusterState): readonly Vote[] =>
  hosts
    .filter(({ role }) => role === (topology === 'external' ? 'etcd' : 'control-plane'))
    .map(({ name, phase, components }) => {
      const member = components.find((component) => component.name === 'etcd');
      const isUp = phase === 'running' && member?.phase === 'ready';
      return {
        id: name,
        name,
        role: !isUp ? 'unreachable' : member.isLeader ? 'leader' : 'follower',
        log: undefined,
      };
    });

/** Who votes: as etcd says while at least one member answers, as the hosts say while none does. */
export const votesOf = (state: LocalClusterState, etcd: EtcdView | undefined): readonly Vote[] => {
  const answers = etcd?.members.some(({ role }) => role !== 'unreachable') ?? false;
  if (!etcd || !answers || etcd.problem !== null) return votesOfHosts(state);
  return etcd.members.map((member) => ({
    id: member.id,
    name: hostOf(state, member),
    role: member.role,
    log: { term: member.raftTerm, index: member.raftIndex, lag: member.lag },
  }));
};
