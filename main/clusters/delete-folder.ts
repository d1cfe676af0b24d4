import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { lockDirectory } from '../../core/base/node/directory-lock.ts';
import { unmountVolumes } from '../../core/kubelet/runtimes/cri/bind-mounts.ts';
import { clusterFile } from '../../core/cluster/data-folder/layout.ts';

/** What a cluster keeps in a folder that is not its own alone. */
const OWN_ENTRIES = [
  'hosts',
  'backups',
  'audit',
  'metrics',
  'timeline',
  'kubeconfig',
  'pki',
  'authentication.yaml',
  'audit-policy.yaml',
  'encryption.yaml',
  'encryption.previous.yaml',
  'addons.json',
  'etcd-timeline.json',
  'membership.json',
  'restore.json',
  'upgrade.json',
  'control.sock',
];

const remove = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });

/**
 * Deletes a cluster that does not run, with its folder; from a folder that is also a console's, only what the cluster
 * made. `cluster.yaml` goes last: what was cut off is still a cluster to delete.
 */
export const deleteClusterFolder = async (
  directory: string,
  { isShared }: { readonly isShared: boolean },
): Promise<void> => {
  const lock = await lockDirectory(directory);
  try {
    // Volumes of real pods that no kubelet has removed: neither their content nor their mounts stay.
    await unmountVolumes(directory);
    for (const name of OWN_ENTRIES) await remove(join(directory, name));
    await remove(clusterFile(directory));
  } finally {
    lock.dispose();
  }
  if (!isShared) await remove(directory);
};
