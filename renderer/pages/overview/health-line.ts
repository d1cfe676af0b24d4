import type { HostState, LocalClusterState } from '../../../core/contract/index.ts';
import { t } from '../../locales/i18n.ts';
import type { StatusTone } from '../../kinds/status-tone.ts';
import type { Vote } from './data/votes.ts';

export interface Health {
  readonly tone: Extract<StatusTone, 'ok' | 'warn' | 'error'>;
  readonly text: string;
}

const readyCount = (hosts: readonly HostState[], component: string): number =>
  hosts.filter(
    ({ phase, components }) =>
      phase === 'running' && components.some((each) => each.name === component && each.phase === 'ready'),
  ).length;

/** One sentence about what holds, and what may still fail. */
export const healthOf = (state: LocalClusterState, votes: readonly Pick<Vote, 'role'>[]): Health => {
  const voting = votes.filter(({ role }) => role !== 'learner');
  const voters = voting.length;
  const healthy = voting.filter(({ role }) => role !== 'unreachable').length;
  const needed = Math.floor(voters / 2) + 1;
  const planes = state.hosts.filter(({ role }) => role === 'control-plane');
  const servers = readyCount(planes, 'kube-apiserver');
  if (voters > 0 && healthy < needed)
    return { tone: 'error', text: t('overview.health.noQuorum', { healthy, voters, needed }) };
  const backends = state.loadBalancer?.backends ?? [];
  const isOut = backends.length > 0 && backends.every(({ isHealthy }) => !isHealthy);
  if (servers === 0 || isOut) return { tone: 'error', text: t('overview.health.noServer') };
  if (voters > 0 && !voting.some(({ role }) => role === 'leader'))
    return { tone: 'error', text: t('overview.health.noLeader') };
  if (voters === 1 && planes.length === 1) return { tone: 'ok', text: t('overview.health.single') };
  // External etcd that is not ours counts no votes here: only API servers may fail.
  const spare = Math.min(voters > 0 ? healthy - needed : servers - 1, servers - 1);
  return spare > 0
    ? { tone: 'ok', text: t('overview.health.spare', { count: spare }) }
    : { tone: 'warn', text: t('overview.health.last') };
};

/** Of a cluster whose hosts are not ours: what its nodes tell. */
export const remoteHealth = (nodes: readonly { readonly isReady: boolean }[]): Health | undefined => {
  if (nodes.length === 0) return undefined;
  const away = nodes.filter(({ isReady }) => !isReady).length;
  return away === 0
    ? { tone: 'ok', text: t('overview.health.nodes', { count: nodes.length }) }
    : { tone: 'warn', text: t('overview.health.nodesAway', { away, count: nodes.length }) };
};
