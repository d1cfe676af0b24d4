import type { HostState, LocalClusterState } from '../../../../core/contract/index.ts';

export type StageId = 'pki' | 'etcd' | 'apiServers' | 'managers' | 'nodes';

/** One stretch of a start, in the order in which each waits for the one before. */
export interface Stage {
  readonly id: StageId;
  readonly state: 'waiting' | 'running' | 'done';
  readonly ready: number;
  readonly total: number;
}

const MANAGERS: readonly string[] = ['kube-controller-manager', 'kube-scheduler', 'cloud-controller-manager'];

const readyCount = (hosts: readonly HostState[], names: readonly string[]): number =>
  hosts.reduce(
    (sum, { components }) =>
      sum + components.filter(({ name, phase }) => names.includes(name) && phase === 'ready').length,
    0,
  );

const etcdHosts = ({ hosts, topology }: LocalClusterState): readonly HostState[] =>
  hosts.filter(({ role }) => role === (topology === 'external' ? 'etcd' : 'control-plane'));

/** How far a start is. Later stages begin when the one before has what they need, not when it is complete. */
export const startStages = (state: LocalClusterState): readonly Stage[] => {
  const planes = state.hosts.filter(({ role }) => role === 'control-plane');
  const members = etcdHosts(state);
  const nodes = state.hosts.reduce((sum, host) => sum + host.nodes.length, 0);
  const isMade = state.phase !== 'preparing' && state.phase !== 'stopped';
  const isReady = state.phase === 'ready';
  const votes = readyCount(members, ['etcd']);
  const hasQuorum = votes > members.length / 2;
  const servers = readyCount(planes, ['kube-apiserver']);
  const managers = readyCount(planes, MANAGERS);
  const managersTotal = planes.length * MANAGERS.length;

  const stage = (id: StageId, ready: number, total: number, mayBegin: boolean): Stage => ({
    id,
    ready: isReady ? total : ready,
    total,
    state: isReady || (total > 0 && ready >= total) ? 'done' : mayBegin ? 'running' : 'waiting',
  });

  return [
    stage('pki', isMade ? 1 : 0, 1, true),
    stage('etcd', votes, members.length, isMade),
    stage('apiServers', servers, planes.length, isMade && hasQuorum),
    stage('managers', managers, managersTotal, servers > 0),
    stage('nodes', 0, nodes, managers > 0),
  ];
};

/** Names of what is not ready yet, host by host, for who waits longer than usual. */
export const stillMissing = (state: LocalClusterState): readonly string[] =>
  state.hosts.flatMap((host) => {
    if (host.message !== null) return [`${host.name}: ${host.message}`];
    return host.components
      .filter(({ phase }) => phase === 'exited')
      .map(({ name, message }) => `${host.name}: ${name}${message === null ? '' : `: ${message}`}`);
  });
