import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Clock } from '../../base/clock.ts';
import { hasReason } from '../../base/errors.ts';
import { listExpiry } from '../../pki/index.ts';
import { planHosts } from '../config/hosts.ts';
import { callControl } from '../control/client.ts';
import { backupsFolder, manifestsFolder } from '../data-folder/layout.ts';
import { requireCluster } from '../data-folder/open.ts';
import type { ClusterState } from '../supervisor/state.ts';
import type { ReadinessFacts } from './readiness.ts';

/** Undefined while no cluster runs in the folder. */
export const stateOrNone = async (data: string): Promise<ClusterState | undefined> => {
  try {
    return await callControl(data, 'status', {});
  } catch (error) {
    if (hasReason(error, 'NotRunning')) return undefined;
    throw error;
  }
};

const newestSnapshotMs = async (data: string): Promise<number | undefined> => {
  const folder = backupsFolder(data);
  const files = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.db'));
  const times = await Promise.all(files.map(async (name) => (await stat(join(folder, name))).mtimeMs));
  return times.length === 0 ? undefined : Math.max(...times);
};

const commandOf = async (path: string): Promise<readonly string[]> => {
  const text = await readFile(path, 'utf8').catch(() => '');
  const pod = parse(text) as { spec?: { containers?: { command?: string[] }[] } } | null;
  return pod?.spec?.containers?.[0]?.command ?? [];
};

export const gatherFacts = async (data: string, clock: Clock): Promise<ReadinessFacts> => {
  const config = await requireCluster(data);
  const controlPlanes = planHosts(config).filter(({ role }) => role === 'control-plane');
  const [state, lastSnapshotMs, expiry, apiServerFlags] = await Promise.all([
    stateOrNone(data),
    newestSnapshotMs(data),
    listExpiry(data, clock),
    Promise.all(
      controlPlanes.map(({ name }) => commandOf(join(manifestsFolder(data, name), 'kube-apiserver.yaml'))),
    ),
  ]);
  const certificatesEndMs = Math.min(...expiry.map(({ notAfterMs }) => notAfterMs));
  return { config, state, lastSnapshotMs, certificatesEndMs, apiServerFlags };
};
