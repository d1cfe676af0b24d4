import { deleteSnapshot } from '../../../core/cluster/backup/list-backups.ts';
import { restoreCluster } from '../../../core/cluster/backup/restore-cluster.ts';
import { saveClusterSnapshot } from '../../../core/cluster/backup/save-snapshot.ts';
import { inStep } from '../../../core/cluster/operation/step-report.ts';
import { applyUpgrade } from '../../../core/cluster/upgrade/apply.ts';
import { rollbackUpgrade } from '../../../core/cluster/upgrade/rollback.ts';
import { BUMP_REVISION_DEFAULT } from '../../../core/etcd/snapshot/index.ts';
import { systemClock } from '../../../core/base/node/clock.ts';
import { renewAll, renewCertificate } from '../../../core/pki/index.ts';
import { requireSupervisor } from '../hosted-cluster.ts';
import type { RunnersOf } from './runner.ts';

export const snapshotRunners: RunnersOf<'snapshot.save' | 'snapshot.restore' | 'snapshot.delete'> = {
  async 'snapshot.save'(_action, { cluster, report }) {
    const saved = await saveClusterSnapshot(requireSupervisor(cluster), { report });
    return `${saved.totalKey} keys at revision ${saved.revision} are saved in ${saved.file}.`;
  },
  async 'snapshot.restore'({ file }, { cluster, report }) {
    const options = { file, bumpRevision: BUMP_REVISION_DEFAULT, report };
    const { members, entries, kept } = await restoreCluster(requireSupervisor(cluster), options);
    const before = kept[0] === undefined ? '' : ` The data of before is kept beside it, as ${kept[0]}.`;
    return `${entries} rows are restored into ${members} ${members === 1 ? 'member' : 'members'}.${before}`;
  },
  async 'snapshot.delete'({ file }, { cluster, report }) {
    report.plan([{ id: 'delete', title: `Delete ${file}` }]);
    await inStep(report, 'delete', () => deleteSnapshot(cluster.directory, file));
    return `${file} is deleted.`;
  },
};

export const upgradeRunners: RunnersOf<'upgrade.apply' | 'upgrade.rollback'> = {
  async 'upgrade.apply'({ version }, { cluster, report }) {
    const { from, to, snapshot } = await applyUpgrade(requireSupervisor(cluster), version, report);
    const before = snapshot === undefined ? '' : ` The state of before is in ${snapshot}.`;
    return `Upgraded from ${from} to ${to}.${before}`;
  },
  async 'upgrade.rollback'(_action, { cluster, report }) {
    const { from, to } = await rollbackUpgrade(requireSupervisor(cluster), report);
    return `Back from ${from} to ${to}.`;
  },
};

export const certificateRunners: RunnersOf<'certificates.renew'> = {
  async 'certificates.renew'({ names }, { cluster, report }) {
    const { directory } = cluster;
    const wanted = names ?? [];
    const count = (renewed: readonly string[]): string =>
      `${renewed.length} ${renewed.length === 1 ? 'certificate is' : 'certificates are'} issued anew.`;
    const after = ' Components take them up by themselves.';
    if (names === null) {
      report.plan([{ id: 'renew', title: 'Issue every certificate anew' }]);
      const renewed = await inStep(report, 'renew', () => renewAll(directory, systemClock), count);
      return count(renewed) + after;
    }
    report.plan(wanted.map((name) => ({ id: name, title: `Issue ${name} anew` })));
    for (const name of wanted)
      await inStep(report, name, () => renewCertificate(directory, name, systemClock));
    return count(wanted) + after;
  },
};
