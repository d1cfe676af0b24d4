import { readFile } from 'node:fs/promises';
import { say, SaidError } from '../../contract/index.ts';
import { join } from 'node:path';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import type { ClusterConfig } from '../config/config.ts';
import { planHosts } from '../config/hosts.ts';
import { manifestsFolder } from '../data-folder/layout.ts';
import { initialMembers, PORTS } from '../manifests/control-plane.ts';
import type { HostLink } from '../supervisor/host-link.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { assertHealthy, withoutClients } from '../supervisor/move.ts';

const READY_TIMEOUT_MS = 60_000;

/** The flag alone is replaced; what an operator has written around it stays. */
export const withEtcdServers = (text: string, servers: readonly string[]): string =>
  text.replace(/(--etcd-servers=)[^\s"']+/, `$1${servers.join(',')}`);

const pointTo = async (
  supervisor: Supervisor,
  host: HostLink,
  servers: readonly string[],
): Promise<boolean> => {
  const path = join(manifestsFolder(supervisor.folder.directory, host.plan.name), 'kube-apiserver.yaml');
  let before: string;
  try {
    before = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  const after = withEtcdServers(before, servers);
  if (after === before) return false;
  const restarts = host.component('kube-apiserver')?.restarts ?? 0;
  await withoutClients(supervisor, host);
  await writeFileAtomically(path, after);
  const isThere = (): boolean => {
    const now = host.component('kube-apiserver');
    return now !== undefined && now.restarts > restarts && now.phase === 'ready';
  };
  const wait = { restarts, isThere, timeoutMs: READY_TIMEOUT_MS };
  if (host.isAlive && !(await host.untilChanged('kube-apiserver', wait)))
    throw new SaidError(
      'NotReady',
      say('failure.member.etcdServers', {
        host: host.plan.name,
        why: host.component('kube-apiserver')?.message ?? '',
      }),
    );
  return true;
};

/**
 * Tells every API server of a configuration which members it has, one after the other. Returns how many had to be told.
 */
export const updateEtcdServers = async (
  supervisor: Supervisor,
  config: ClusterConfig,
  resumeCommand: string,
): Promise<number> => {
  const servers = initialMembers(config).map(({ address }) => `https://${address}:${PORTS.etcdClient}`);
  let count = 0;
  for (const host of supervisor.hosts) {
    if (host.plan.role !== 'control-plane' || !planHosts(config).some(({ name }) => name === host.plan.name))
      continue;
    await assertHealthy(supervisor, resumeCommand);
    if (await pointTo(supervisor, host, servers)) count += 1;
  }
  return count;
};
