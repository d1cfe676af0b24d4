import { readFile, statfs } from 'node:fs/promises';
import { availableParallelism, release, totalmem } from 'node:os';
import type { NodeIdentity } from './node-object.ts';

const MIB = 2 ** 20;
export const PODS_MAX_DEFAULT = 110;

const lineOf = async (file: string, fallback: string): Promise<string> =>
  (await readFile(file, 'utf8').catch(() => fallback)).trim();

/** This machine, or one of `shares` equal parts of it: nodes that share a machine must not promise all of it twice. */
export const thisMachine = async (
  folder: string,
  { shares = 1, podsMax = PODS_MAX_DEFAULT } = {},
): Promise<Pick<NodeIdentity, 'capacity' | 'machine'>> => {
  const { blocks, bsize } = await statfs(folder);
  const shareMib = (bytes: number): string => `${Math.floor(bytes / shares / MIB)}Mi`;
  const system = await lineOf('/etc/os-release', '');
  return {
    capacity: {
      cpu: `${Math.floor((1000 * availableParallelism()) / shares)}m`,
      memory: shareMib(totalmem()),
      'ephemeral-storage': shareMib(blocks * bsize),
      pods: String(podsMax),
    },
    machine: {
      kernelVersion: release(),
      osImage: /^PRETTY_NAME="?(.*?)"?$/m.exec(system)?.[1] ?? 'Linux',
      machineID: await lineOf('/etc/machine-id', ''),
      bootID: await lineOf('/proc/sys/kernel/random/boot_id', ''),
      hasAppArmor: (await lineOf('/sys/module/apparmor/parameters/enabled', 'N')) === 'Y',
    },
  };
};
