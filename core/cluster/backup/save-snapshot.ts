import { SaidError, say, verbatim } from '../../contract/index.ts';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { backupsFolder, PRIVATE_FOLDER_MODE } from '../data-folder/layout.ts';
import { etcdAccessOf, saveSnapshot, type SavedSnapshot } from '../etcd-operator/operations.ts';
import { inStep, type StepReport } from '../operation/step-report.ts';
import type { ClusterConfig } from '../config/config.ts';
import { stampOf } from '../data-folder/backup-name.ts';

const MIB = 1024 * 1024;
/** Progress is told this often: a line for every message would be a line for every 64 kB. */
const DETAIL_EVERY_BYTES = 4 * MIB;

export interface SaveSnapshotOptions {
  readonly report: StepReport;
  /** A new file; without it one in `directory` (default `backups/`), named by the time and by `prefix`. */
  readonly file?: string;
  readonly prefix?: string;
  readonly directory?: string;
}

const mebibytes = (bytes: number): string => `${(bytes / MIB).toFixed(1)} MiB`;

/** What of a cluster is needed: where it is and where its members are. A supervisor has it. */
export interface SnapshotSource {
  readonly folder: { readonly directory: string };
  readonly config: ClusterConfig;
}

/** Streams a snapshot of the running cluster into a new file, and checks every page of it. */
export const saveClusterSnapshot = async (
  source: SnapshotSource,
  { report, file, prefix = 'etcd', directory: folder }: SaveSnapshotOptions,
): Promise<SavedSnapshot> => {
  const { directory } = source.folder;
  const path = file ?? join(folder ?? backupsFolder(directory), `${prefix}-${stampOf(Date.now())}.db`);
  if (existsSync(path)) throw new SaidError('AlreadyExists', say('failure.snapshot.exists', { path }));
  report.plan([{ id: 'snapshot', title: say('step.snapshot.save') }]);
  return inStep(
    report,
    'snapshot',
    async () => {
      await mkdir(dirname(path), { recursive: true, mode: PRIVATE_FOLDER_MODE });
      let toldBytes = 0;
      return saveSnapshot(etcdAccessOf(directory, source.config), path, (bytes) => {
        if (bytes - toldBytes < DETAIL_EVERY_BYTES) return;
        toldBytes = bytes;
        report.detail('snapshot', verbatim(mebibytes(bytes)));
      });
    },
    ({ file: saved, totalKey, revision }) =>
      say('detail.saved', { file: saved, keys: totalKey, revision: `${revision}` }),
  );
};
