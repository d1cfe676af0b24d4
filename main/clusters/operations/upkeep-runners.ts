import { deleteSnapshot } from '../../../core/cluster/backup/list-backups.ts';
import { restoreCluster } from '../../../core/cluster/restore/restore-cluster.ts';
import { saveClusterSnapshot } from '../../../core/cluster/backup/save-snapshot.ts';
import { enableEncryption } from '../../../core/cluster/encryption/enable.ts';
import { rotateEncryption } from '../../../core/cluster/encryption/rotate.ts';
import { applyHardening } from '../../../core/cluster/harden/apply.ts';
import { rollbackHardening } from '../../../core/cluster/harden/rollback.ts';
import { inStep } from '../../../core/cluster/operation/step-report.ts';
import { applyUpgrade } from '../../../core/cluster/upgrade/apply.ts';
import { rollbackUpgrade } from '../../../core/cluster/upgrade/rollback.ts';
import { say, type Said } from '../../../core/contract/index.ts';
import { BUMP_REVISION_DEFAULT } from '../../../core/etcd/snapshot/index.ts';
import { systemClock } from '../../../core/base/node/clock.ts';
import { renewAll, renewCertificate } from '../../../core/pki/index.ts';
import { requireSupervisor } from '../hosted-cluster.ts';
import type { ActionOf } from '../operation-runner.ts';
import { askHost } from './ask-host.ts';
import {
  encrypted,
  hardened,
  hardeningRolledBack,
  rolledBack,
  snapshotRestored,
  snapshotSaved,
  upgraded,
} from './end-sentences.ts';
import type { Elsewhere, RunnerContext, RunnersOf } from './runner.ts';

type SnapshotKind = 'snapshot.save' | 'snapshot.restore' | 'snapshot.delete';

export const snapshotRunners: RunnersOf<SnapshotKind> = {
  async 'snapshot.save'(_action, { cluster, report }) {
    return snapshotSaved(await saveClusterSnapshot(requireSupervisor(cluster), { report }));
  },
  async 'snapshot.restore'({ file }, { cluster, report }) {
    const options = { file, bumpRevision: BUMP_REVISION_DEFAULT, report };
    return snapshotRestored(await restoreCluster(requireSupervisor(cluster), options));
  },
  async 'snapshot.delete'({ file }, { cluster, report }) {
    report.plan([{ id: 'delete', title: say('step.snapshot.delete', { file }) }]);
    await inStep(report, 'delete', () => deleteSnapshot(cluster.directory, file));
    return say('done.snapshot.delete', { file });
  },
};

type UpgradeKind = 'upgrade.apply' | 'upgrade.rollback';

export const upgradeRunners: RunnersOf<UpgradeKind> = {
  async 'upgrade.apply'({ version }, { cluster, report }) {
    return upgraded(await applyUpgrade(requireSupervisor(cluster), version, report));
  },
  async 'upgrade.rollback'(_action, { cluster, report }) {
    return rolledBack(await rollbackUpgrade(requireSupervisor(cluster), report));
  },
};

type HardenKind = 'harden.apply' | 'harden.rollback' | 'encryption.enable' | 'encryption.rotate';

export const hardenRunners: RunnersOf<HardenKind> = {
  async 'encryption.enable'(_action, { cluster, report }) {
    return encrypted(await enableEncryption(requireSupervisor(cluster), report));
  },
  async 'encryption.rotate'(_action, { cluster, report }) {
    return encrypted(await rotateEncryption(requireSupervisor(cluster), report));
  },
  async 'harden.apply'({ wishes }, { cluster, report }) {
    return hardened(await applyHardening(requireSupervisor(cluster), wishes, report));
  },
  async 'harden.rollback'(_action, { cluster, report }) {
    return hardeningRolledBack(await rollbackHardening(requireSupervisor(cluster), report));
  },
};

export const certificateRunners: RunnersOf<'certificates.renew'> = {
  async 'certificates.renew'({ names }, { cluster, report }) {
    const { directory } = cluster;
    const wanted = names ?? [];
    if (names === null) {
      report.plan([{ id: 'renew', title: say('step.certificates.all') }]);
      const renewed = await inStep(
        report,
        'renew',
        () => renewAll(directory, systemClock),
        ({ length }) => say('done.certificates.count', { count: length }),
      );
      return say('done.certificates', { count: renewed.length });
    }
    report.plan(wanted.map((name) => ({ id: name, title: say('step.certificates.one', { name }) })));
    for (const name of wanted)
      await inStep(report, name, () => renewCertificate(directory, name, systemClock));
    return say('done.certificates', { count: wanted.length });
  },
};

const encryptionElsewhere = async (
  { kind }: ActionOf<'encryption.enable' | 'encryption.rotate'>,
  context: RunnerContext,
): Promise<Said> => encrypted(await askHost(context, kind, {}));

export const upkeepElsewhere: Elsewhere<SnapshotKind | UpgradeKind | HardenKind> = {
  async 'snapshot.save'(_action, { cluster: { directory, config }, report }) {
    return snapshotSaved(await saveClusterSnapshot({ folder: { directory }, config }, { report }));
  },
  async 'snapshot.restore'({ file }, context) {
    const params = { file, bumpRevision: BUMP_REVISION_DEFAULT };
    return snapshotRestored(await askHost(context, 'snapshot.restore', params));
  },
  async 'upgrade.apply'({ version }, context) {
    return upgraded(await askHost(context, 'upgrade.apply', { version }));
  },
  async 'upgrade.rollback'(_action, context) {
    return rolledBack(await askHost(context, 'upgrade.rollback', {}));
  },
  'encryption.enable': encryptionElsewhere,
  'encryption.rotate': encryptionElsewhere,
  async 'harden.apply'({ wishes }, context) {
    return hardened(await askHost(context, 'harden.apply', { wishes: JSON.stringify(wishes) }));
  },
  async 'harden.rollback'(_action, context) {
    return hardeningRolledBack(await askHost(context, 'harden.rollback', {}));
  },
};
