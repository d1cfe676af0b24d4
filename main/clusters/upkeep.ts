import { POD, type Client } from '../../core/client/index.ts';
import { compareSnapshot } from '../../core/cluster/restore/compare-snapshot.ts';
import { listSnapshots } from '../../core/cluster/backup/list-backups.ts';
import {
  readBackupSchedule,
  scheduledFolder,
  writeBackupSchedule,
} from '../../core/cluster/backup/schedule.ts';
import { callControl } from '../../core/cluster/control/client.ts';
import { gatherActionFacts } from '../../core/cluster/supervisor/gather-facts.ts';
import { previewAction } from '../../core/cluster/faults/preview.ts';
import type { Supervisor } from '../../core/cluster/supervisor/supervisor.ts';
import { planUpgrade } from '../../core/cluster/upgrade/plan-upgrade.ts';
import type {
  ActionPreview,
  Backups,
  BackupSchedule,
  ClusterAction,
  SnapshotComparison,
  UpgradePlan,
} from '../../core/contract/index.ts';
import { requireSupervisor } from './hosted-cluster.ts';
import type { LocalCluster } from './local-clusters.ts';
import type { ActionOf } from './operation-runner.ts';

const PODS_PER_PAGE = 500;

/** The supervisor here, or undefined where another process has it and is asked. */
const supervisorOf = (cluster: LocalCluster): Supervisor | undefined =>
  cluster.isElsewhere ? undefined : requireSupervisor(cluster);

export const preview = async (cluster: LocalCluster, action: ClusterAction): Promise<ActionPreview> => {
  const supervisor = supervisorOf(cluster);
  if (!supervisor)
    return callControl(cluster.directory, 'action.preview', { action: JSON.stringify(action) });
  return previewAction(await gatherActionFacts(supervisor), action);
};

export { snapshotFolders } from '../../core/cluster/backup/schedule.ts';
export { planHardening } from '../../core/cluster/harden/plan.ts';
export { flagsDiff } from '../../core/cluster/flags/set-flags.ts';

export const compare = async (cluster: LocalCluster, file: string): Promise<SnapshotComparison> => {
  const supervisor = supervisorOf(cluster);
  return supervisor
    ? compareSnapshot(supervisor, file)
    : callControl(cluster.directory, 'snapshot.compare', { file });
};

export const plan = async (cluster: LocalCluster, version: string | null): Promise<UpgradePlan> => {
  const supervisor = supervisorOf(cluster);
  return supervisor
    ? planUpgrade(supervisor, version ?? undefined)
    : callControl(cluster.directory, 'upgrade.plan', { version: version ?? '' });
};

/** Of a cluster that is not ours: only its pods are known. */
export const previewDrain = async (
  client: Client,
  action: ActionOf<'node.drain'>,
): Promise<ActionPreview> => {
  const query = { fieldSelector: `spec.nodeName=${action.node}`, limit: PODS_PER_PAGE };
  let pods = 0;
  for await (const { status } of client.resource(POD).iterate(query))
    if (status?.phase === 'Running' || status?.phase === 'Pending') pods += 1;
  const facts = { hosts: [], members: [], leases: [], podsByNode: { [action.node]: pods }, faults: [] };
  return previewAction(facts, action);
};

export const readBackups = async (cluster: LocalCluster): Promise<Backups> => {
  const { directory, supervisor, isElsewhere } = cluster;
  const scheduled = isElsewhere ? await callControl(directory, 'backup.get', {}) : undefined;
  const schedule =
    scheduled?.schedule ?? supervisor?.backups.schedule ?? (await readBackupSchedule(directory));
  return {
    directory: scheduledFolder(directory, schedule),
    files: [...(await listSnapshots(directory))],
    schedule,
    nextAtMs: scheduled?.nextAtMs ?? supervisor?.backups.nextAtMs ?? null,
  };
};

/** Takes effect immediately while the cluster runs, else with its next start. */
export const setSchedule = async (
  { directory, supervisor, isElsewhere }: LocalCluster,
  schedule: BackupSchedule,
): Promise<BackupSchedule> => {
  if (isElsewhere) return (await callControl(directory, 'backup.set', schedule)).schedule;
  if (supervisor) await supervisor.backups.setSchedule(schedule);
  else await writeBackupSchedule(directory, schedule);
  return schedule;
};
