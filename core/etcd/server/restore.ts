import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { assert } from '../../base/assert.ts';
import { ReasonError } from '../../base/errors.ts';
import { systemClock } from '../../base/node/clock.ts';
import { nodeDisk } from '../../base/node/disk.ts';
import { configurationOf } from '../../raft/configuration.ts';
import { encodeConfiguration, RESTORED_INDEX } from '../member/boot.ts';
import { planCluster, type ClusterFlags } from '../membership/index.ts';
import { META } from '../mvcc/backend/backend.ts';
import { loadBackend } from '../mvcc/backend/load.ts';
import { openLmdbBackend } from '../mvcc/backend/lmdb-engine.ts';
import { readSnapshot, restoreEntries } from '../snapshot/index.ts';

/** All members of a restored cluster are in the state already. */
const RESTORED_TERM = 1;

export interface RestoreRequest extends ClusterFlags {
  readonly snapshotPath: string;
  readonly dataDirectory: string;
  readonly skipHashCheck: boolean;
  /** How far the revision is moved on, so that watchers from before list again; 0 keeps it. */
  readonly bumpRevision: number;
}

/**
 * Makes the data folder of one member from a snapshot of ours or of a real etcd. The folder appears whole
 * or not at all: it is filled beside its place and renamed, and an existing one is never touched.
 */
export const restoreMember = async (request: RestoreRequest): Promise<{ readonly entries: number }> => {
  const { dataDirectory, snapshotPath } = request;
  if (existsSync(dataDirectory))
    throw new ReasonError(
      'DirectoryExists',
      `data-dir "${dataDirectory}" exists; move it away or choose another folder`,
    );
  const plan = planCluster(request);
  const snapshot = await readSnapshot(snapshotPath);
  const partial = `${dataDirectory}.restoring`;
  try {
    await rm(partial, { recursive: true, force: true });
    const failures: unknown[] = [];
    const backend = await openLmdbBackend(join(partial, 'member', 'db'), {
      clock: systemClock,
      onCommitFailed: (error) => failures.push(error),
    });
    try {
      const rows = restoreEntries(snapshot, {
        members: plan.members.map((member) => ({ ...member, name: '' })),
        skipHashCheck: request.skipHashCheck,
        bumpRevision: request.bumpRevision,
        consistentIndex: RESTORED_INDEX,
        term: RESTORED_TERM,
      });
      const entries = await loadBackend(backend, rows, {
        consistentIndex: RESTORED_INDEX,
        term: RESTORED_TERM,
      });
      const voters = plan.members.map((member) => member.id);
      backend.put('meta', META.confState, encodeConfiguration(configurationOf(voters)));
      await backend.commit();
      assert(failures.length === 0, 'every write of a restore is durable');
      await backend.close();
      await nodeDisk.syncDirectory(join(partial, 'member'));
      await rename(partial, dataDirectory);
      await nodeDisk.syncDirectory(dirname(dataDirectory));
      return { entries };
    } catch (error) {
      await backend.close();
      throw error;
    }
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  } finally {
    await snapshot.close();
  }
};
