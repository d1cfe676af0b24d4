import { readdir, readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';

const CGROUPS = '/sys/fs/cgroup';
const TIERS = ['', 'burstable', 'besteffort'];

/** Where the pod's own cgroup may be, in every hierarchy. */
const placesOf = async (root: string, uid: string): Promise<readonly string[]> => {
  const hierarchies = await readdir(CGROUPS, { withFileTypes: true }).catch(() => []);
  const bases = [
    CGROUPS,
    ...hierarchies.filter((one) => one.isDirectory()).map(({ name }) => join(CGROUPS, name)),
  ];
  return bases.flatMap((base) => TIERS.map((tier) => join(base, root, 'kubepods', tier, `pod${uid}`)));
};

/** The runtime removes cgroups of containers only. */
export const removeCgroups = async (root: string, uid: string): Promise<void> => {
  // Absent in most of them; one that is still in use goes with the next sweep.
  for (const place of await placesOf(root, uid)) await rmdir(place).catch(() => undefined);
};

const processesBelow = async (folder: string): Promise<readonly number[]> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const own = await readFile(join(folder, 'cgroup.procs'), 'utf8').catch(() => '');
  const inner = entries
    .filter((one) => one.isDirectory())
    .map(({ name }) => processesBelow(join(folder, name)));
  return [...own.split('\n').filter(Boolean).map(Number), ...(await Promise.all(inner)).flat()];
};

/**
 * Whatever of a pod runs although its runtime takes it for stopped: containerd loses what it had made and not yet started when it
 * was killed. As upstream's kubelet does for pods that are gone.
 */
export const killProcesses = async (root: string, uid: string): Promise<void> => {
  const found = new Set((await Promise.all((await placesOf(root, uid)).map(processesBelow))).flat());
  for (const pid of found)
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended in the meantime.
    }
};
