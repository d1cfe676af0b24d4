import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { restoreMember } from '../../etcd/server/restore.ts';
import { verifySnapshot } from '../../etcd/snapshot/index.ts';
import { etcdFolder } from '../data-folder/layout.ts';
import { putManifestBack, setManifestAside } from '../data-folder/manifest-aside.ts';
import { initialMembers, PORTS } from '../manifests/control-plane.ts';
import type { RestoreOutcome } from '../control/protocol.ts';
import type { HostLink } from '../supervisor/host-link.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';

const READY_TIMEOUT_MS = 60_000;
const TOKEN = 'etcd-cluster';

export interface RestoreOptions {
  readonly file: string;
  readonly bumpRevision: number;
  progress(line: string): void;
}

interface Places {
  readonly host: HostLink;
  readonly data: string;
  readonly fresh: string;
  readonly before: string;
}

const exists = (path: string): boolean => existsSync(path);

/** A stamp that sorts by time and fits into a file name. */
const stamp = (): string => new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');

/** Makes the folders of all members beside their places; none is left when one cannot be made. */
const prepare = async (
  supervisor: Supervisor,
  places: readonly Places[],
  options: RestoreOptions,
): Promise<number> => {
  const members = initialMembers(supervisor.folder.config);
  const peerUrl = (address: string): string => `https://${address}:${PORTS.etcdPeer}`;
  let entries = 0;
  try {
    for (const { host, fresh } of places) {
      const { name, address } = host.plan.etcd!;
      const restored = await restoreMember({
        name,
        advertisePeerUrls: [peerUrl(address)],
        initialCluster: members.map((member) => `${member.name}=${peerUrl(member.address)}`).join(','),
        initialClusterToken: TOKEN,
        snapshotPath: options.file,
        dataDirectory: fresh,
        skipHashCheck: false,
        bumpRevision: options.bumpRevision,
      });
      entries = restored.entries;
      options.progress(`${host.plan.name} etcd restored beside its data`);
    }
    return entries;
  } catch (error) {
    for (const { fresh } of places) await rm(fresh, { recursive: true, force: true });
    throw error;
  }
};

const swapIn = async (places: readonly Places[]): Promise<void> => {
  for (const { data, fresh, before } of places) {
    if (exists(data)) await rename(data, before);
    await rename(fresh, data);
  }
};

const swapBack = async (places: readonly Places[]): Promise<void> => {
  for (const { data, fresh, before } of places) {
    if (!exists(before)) continue;
    await rm(fresh, { recursive: true, force: true });
    if (exists(data)) await rename(data, fresh);
    await rename(before, data);
    await rm(fresh, { recursive: true, force: true });
  }
};

const stopAll = async (
  supervisor: Supervisor,
  hosts: readonly HostLink[],
  component: string,
): Promise<void> => {
  await Promise.all(hosts.map((host) => supervisor.stopComponent(host.plan.name, component)));
};

const startAll = async (
  supervisor: Supervisor,
  hosts: readonly HostLink[],
  component: string,
): Promise<void> => {
  await Promise.all(hosts.map((host) => supervisor.startComponent(host.plan.name, component)));
  for (const host of hosts) {
    if (!host.isAlive) continue;
    const isReady = await host.until(() => host.component(component)?.phase === 'ready', READY_TIMEOUT_MS);
    if (!isReady) {
      const message = host.component(component)?.message;
      throw new ReasonError(
        'NotReady',
        `${component} on ${host.plan.name} did not become ready${message === undefined ? '' : `: ${message}`}`,
      );
    }
  }
};

/** Whatever was set aside and is still there. */
const putBackWhatIsAside = async (
  supervisor: Supervisor,
  hosts: readonly HostLink[],
  component: string,
): Promise<void> => {
  const { directory } = supervisor.folder;
  for (const { plan } of hosts) await putManifestBack(directory, plan.name, component).catch(() => undefined);
};

/** Rejects with the old state in place and running, unless the disk itself fails. */
export const restoreCluster = async (
  supervisor: Supervisor,
  options: RestoreOptions,
): Promise<RestoreOutcome> => {
  const { directory } = supervisor.folder;
  const etcdHosts = supervisor.hosts.filter(({ plan }) => plan.etcd !== undefined);
  const apiHosts = supervisor.hosts.filter(({ plan }) => plan.role === 'control-plane');
  if (etcdHosts.length === 0)
    throw new ReasonError('NotOurs', "etcd is not this cluster's own; restore it where it runs");
  const status = await verifySnapshot(options.file, { skipHashCheck: false }).catch((cause: unknown) => {
    throw new ReasonError('Damaged', `${options.file}: ${messageOf(cause)}; nothing was changed`, { cause });
  });
  options.progress(`snapshot holds ${status.totalKey} keys at revision ${status.revision}`);
  const at = stamp();
  const places = etcdHosts.map((host) => {
    const data = etcdFolder(directory, host.plan.name);
    return { host, data, fresh: `${data}.fresh-${at}`, before: `${data}.before-${at}` };
  });
  const entries = await prepare(supervisor, places, options);
  try {
    await stopAll(supervisor, apiHosts, 'kube-apiserver');
    options.progress('API servers are stopped');
    await stopAll(supervisor, etcdHosts, 'etcd');
    await swapIn(places);
    await startAll(supervisor, etcdHosts, 'etcd');
    options.progress('etcd runs on the restored data');
    await startAll(supervisor, apiHosts, 'kube-apiserver');
    options.progress('API servers are ready');
  } catch (error) {
    for (const { plan } of etcdHosts)
      await setManifestAside(directory, plan.name, 'etcd').catch(() => undefined);
    await Promise.all(
      etcdHosts.map((host) =>
        host.until(() => (host.component('etcd')?.phase ?? 'exited') === 'exited', READY_TIMEOUT_MS),
      ),
    );
    await swapBack(places);
    await putBackWhatIsAside(supervisor, etcdHosts, 'etcd');
    await putBackWhatIsAside(supervisor, apiHosts, 'kube-apiserver');
    throw new ReasonError(
      'RestoreFailed',
      `nothing was restored, the old state is back: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
  return {
    file: options.file,
    members: places.length,
    entries,
    kept: places.map(({ before }) => before).filter(exists),
  };
};
