import { readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { lockDirectory } from '../../core/base/node/directory-lock.ts';
import { clusterFile } from '../../core/cluster/data-folder/layout.ts';

/** What a cluster keeps in its folder. `cluster.yaml` goes last: what was cut off is still a cluster to delete. */
const OWN_ENTRIES = ['hosts', 'backups', 'audit', 'kubeconfig', 'pki', 'addons.json', 'control.sock'];

/**
 * Deletes what the cluster made, and the folder when nothing else is in it: a folder that somebody chose may hold more,
 * and the console's own does.
 */
export const deleteClusterFolder = async (directory: string): Promise<void> => {
  const lock = await lockDirectory(directory);
  try {
    for (const name of OWN_ENTRIES) await rm(join(directory, name), { recursive: true, force: true });
    await rm(clusterFile(directory), { force: true });
  } finally {
    lock.dispose();
  }
  if ((await readdir(directory)).length === 0) await rmdir(directory);
};
