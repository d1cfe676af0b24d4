import { readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';

const CGROUPS = '/sys/fs/cgroup';

/** The pod's own cgroup, in every hierarchy: the runtime removes those of containers only. */
export const removeCgroups = async (root: string, uid: string): Promise<void> => {
  const hierarchies = await readdir(CGROUPS, { withFileTypes: true }).catch(() => []);
  const bases = [
    CGROUPS,
    ...hierarchies.filter((one) => one.isDirectory()).map(({ name }) => join(CGROUPS, name)),
  ];
  for (const base of bases)
    for (const tier of ['', 'burstable', 'besteffort'])
      // Absent in most of them; one that is still in use goes with the next sweep.
      await rmdir(join(base, root, 'kubepods', tier, `pod${uid}`)).catch(() => undefined);
};
