import { POD, type Client } from '../../core/client/index.ts';
import { compareSnapshot } from '../../core/cluster/backup/compare-snapshot.ts';
import { listSnapshots } from '../../core/cluster/backup/list-backups.ts';
import { readBackupSchedule, writeBackupSchedule } from '../../core/cluster/backup/schedule.ts';
import { backupsFolder } from '../../core/cluster/data-folder/layout.ts';
import { gatherActionFacts } from '../../core/cluster/faults/gather-facts.ts';
import { previewAction } from '../../core/cluster/faults/preview.ts';
import type { Supervisor } from '../../core/cluster/index.ts';
import { planUpgrade } from '../../core/cluster/upgrade/plan-upgrade.ts';
import type { ActionPreview, Backups, BackupSchedule, ClusterAction } from '../../core/contract/index.ts';
import type { LocalCluster } from './local-clusters.ts';
import type { ActionOf } from './operation-runner.ts';

export { compareSnapshot, planUpgrade };

const PODS_PER_PAGE = 500;

export const preview = async (supervisor: Supervisor, action: ClusterAction): Promise<ActionPreview> =>
  previewAction(await gatherActionFacts(supervisor), action);

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

export const readBackups = async ({ directory, supervisor }: LocalCluster): Promise<Backups> => ({
  directory: backupsFolder(directory),
  files: [...(await listSnapshots(directory))],
  schedule: supervisor?.backups.schedule ?? (await readBackupSchedule(directory)),
  nextAtMs: supervisor?.backups.nextAtMs ?? null,
});

/** Takes effect at once while the cluster runs, else with its next start. */
export const setSchedule = async (
  { directory, supervisor }: LocalCluster,
  schedule: BackupSchedule,
): Promise<BackupSchedule> => {
  if (supervisor) await supervisor.backups.setSchedule(schedule);
  else await writeBackupSchedule(directory, schedule);
  return schedule;
};
