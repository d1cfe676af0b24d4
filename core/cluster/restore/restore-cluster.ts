import { SaidError, saidOf, say, together, verbatim } from '../../contract/index.ts';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { restoreMember } from '../../etcd/server/restore.ts';
import { verifySnapshot } from '../../etcd/snapshot/index.ts';
import { editManifestAside, setManifestAside } from '../data-folder/manifest-aside.ts';
import { assertReadable } from '../encryption/snapshot-keys.ts';
import { initialMembers, PORTS } from '../manifests/control-plane.ts';
import { inStep, type StepReport } from '../operation/step-report.ts';
import type { HostLink } from '../supervisor/host-link.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { stampOf } from '../data-folder/backup-name.ts';
import { withInitialCluster } from '../backup/initial-cluster.ts';
import {
  beginSwap,
  endSwap,
  memberFolders,
  putManifestsBack,
  swapBack,
  swapIn,
  type MemberFolders,
} from '../data-folder/member-folders.ts';

export interface RestoreOutcome {
  readonly file: string;
  readonly members: number;
  readonly entries: number;
  /** Where the members' previous data is kept. */
  readonly kept: readonly string[];
}

const READY_TIMEOUT_MS = 60_000;
const TOKEN = 'etcd-cluster';

export interface RestoreOptions {
  readonly file: string;
  readonly bumpRevision: number;
  readonly report: StepReport;
}

const STEPS = [
  { id: 'check', title: say('step.restore.check') },
  { id: 'prepare', title: say('step.restore.prepare') },
  { id: 'stop', title: say('step.restore.stop') },
  { id: 'etcd', title: say('step.restore.etcd') },
  { id: 'api', title: say('step.restore.api') },
] as const;

const peerUrl = (address: string): string => `https://${address}:${PORTS.etcdPeer}`;

/** All members of the cluster as it is now, as `--initial-cluster` names them. */
const initialClusterOf = ({ config }: Supervisor): string =>
  initialMembers(config)
    .map(({ name, address }) => `${name}=${peerUrl(address)}`)
    .join(',');

/** Makes the folders of all members beside their places; none is left when one cannot be made. */
const prepare = async (
  supervisor: Supervisor,
  places: readonly MemberFolders[],
  { file, bumpRevision, report }: RestoreOptions,
): Promise<number> => {
  const initialCluster = initialClusterOf(supervisor);
  let entries = 0;
  try {
    for (const [index, { host, fresh }] of places.entries()) {
      const { name, address } = supervisor.host(host).plan.etcd!;
      report.detail('prepare', say('detail.hostOf', { host, number: index + 1, total: places.length }));
      const restored = await restoreMember({
        name,
        advertisePeerUrls: [peerUrl(address)],
        initialCluster,
        initialClusterToken: TOKEN,
        snapshotPath: file,
        dataDirectory: fresh,
        skipHashCheck: false,
        bumpRevision,
      });
      entries = restored.entries;
    }
    return entries;
  } catch (error) {
    for (const { fresh } of places) await rm(fresh, { recursive: true, force: true });
    throw error;
  }
};

const stopAll = async (
  supervisor: Supervisor,
  hosts: readonly HostLink[],
  component: string,
): Promise<void> => {
  await Promise.all(hosts.map((host) => supervisor.commands.stopComponent(host.plan.name, component)));
};

const startAll = async (
  supervisor: Supervisor,
  hosts: readonly HostLink[],
  component: string,
): Promise<void> => {
  await Promise.all(hosts.map((host) => supervisor.commands.startComponent(host.plan.name, component)));
  for (const host of hosts) {
    if (!host.isAlive) continue;
    const isReady = await host.until(() => host.component(component)?.phase === 'ready', READY_TIMEOUT_MS);
    if (isReady) continue;
    const message = host.component(component)?.message;
    throw new SaidError(
      'NotReady',
      together([
        say('failure.notReady.component', { component, host: host.plan.name }),
        ...(message === undefined ? [] : [verbatim(message)]),
      ]),
    );
  }
};

const isOver = (host: HostLink): boolean => (host.component('etcd')?.phase ?? 'exited') === 'exited';

const goBack = async (
  supervisor: Supervisor,
  {
    places,
    etcdHosts,
    apiHosts,
    manifests,
  }: {
    readonly places: readonly MemberFolders[];
    readonly etcdHosts: readonly HostLink[];
    readonly apiHosts: readonly HostLink[];
    readonly manifests: ReadonlyMap<string, string>;
  },
): Promise<void> => {
  const { directory } = supervisor.folder;
  // Some are aside already: those that were stopped before it failed.
  for (const { plan } of etcdHosts)
    await setManifestAside(directory, plan.name, 'etcd').catch(() => undefined);
  await Promise.all(etcdHosts.map((host) => host.until(() => isOver(host), READY_TIMEOUT_MS)));
  await swapBack(places);
  for (const [host, text] of manifests) await editManifestAside(directory, host, 'etcd', () => text);
  const names = (hosts: readonly HostLink[]): string[] => hosts.map(({ plan }) => plan.name);
  await putManifestsBack(directory, names(etcdHosts), 'etcd');
  await putManifestsBack(directory, names(apiHosts), 'kube-apiserver');
  await endSwap(directory);
};

/** Rejects with the old state in place and running, unless the disk itself fails. */
export const restoreCluster = (supervisor: Supervisor, options: RestoreOptions): Promise<RestoreOutcome> =>
  supervisor.exclusively(say('exclusive.restore'), () => restore(supervisor, options));

const restore = async (supervisor: Supervisor, options: RestoreOptions): Promise<RestoreOutcome> => {
  const { file, report } = options;
  const { directory } = supervisor.folder;
  const etcdHosts = supervisor.hosts.filter(({ plan }) => plan.etcd !== undefined);
  const apiHosts = supervisor.hosts.filter(({ plan }) => plan.role === 'control-plane');
  if (etcdHosts.length === 0) throw new SaidError('NotOurs', say('failure.restore.external'));
  report.plan(STEPS);
  await inStep(
    report,
    'check',
    async () => {
      const found = await verifySnapshot(file, { skipHashCheck: false }).catch((cause: unknown) => {
        throw new SaidError('Damaged', say('failure.restore.damaged', { file, why: saidOf(cause) }), {
          cause,
        });
      });
      const { config, clock } = supervisor;
      await assertReadable(file, { data: directory, config, clock });
      return found;
    },
    ({ totalKey, revision }) => say('detail.keysAt', { keys: totalKey, revision: `${revision}` }),
  );
  /** Previous manifests, by host. */
  const manifests = new Map<string, string>();
  const stamp = stampOf(Date.now());
  const places = etcdHosts.map(({ plan }) => memberFolders(directory, plan.name, stamp));
  const entries = await inStep(report, 'prepare', () => prepare(supervisor, places, options));
  try {
    await inStep(report, 'stop', async () => {
      await beginSwap(directory, {
        stamp,
        etcdHosts: etcdHosts.map(({ plan }) => plan.name),
        apiHosts: apiHosts.map(({ plan }) => plan.name),
      });
      await stopAll(supervisor, apiHosts, 'kube-apiserver');
      report.detail('stop', say('detail.apiServersStopped'));
      await stopAll(supervisor, etcdHosts, 'etcd');
    });
    await inStep(report, 'etcd', async () => {
      await swapIn(places);
      const initialCluster = initialClusterOf(supervisor);
      for (const { plan } of etcdHosts)
        manifests.set(
          plan.name,
          await editManifestAside(directory, plan.name, 'etcd', (text) =>
            withInitialCluster(text, initialCluster),
          ),
        );
      await startAll(supervisor, etcdHosts, 'etcd');
    });
    await inStep(report, 'api', () => startAll(supervisor, apiHosts, 'kube-apiserver'));
    await endSwap(directory);
  } catch (error) {
    await goBack(supervisor, { places, etcdHosts, apiHosts, manifests });
    throw new SaidError('RestoreFailed', say('failure.restore.rolledBack', { why: saidOf(error) }), {
      cause: error,
    });
  }
  return {
    file,
    members: places.length,
    entries,
    kept: places.map(({ before }) => before).filter((path) => existsSync(path)),
  };
};
