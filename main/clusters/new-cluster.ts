import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, normalize } from 'node:path';
import { NEWEST_MINOR, OLDEST_MINOR } from '../../core/api/releases/index.ts';
import { defaultSpec } from '../../core/cluster/config/config.ts';
import { clusterFile } from '../../core/cluster/data-folder/layout.ts';
import type { SpecWishes } from '../../core/cluster/data-folder/open.ts';
import {
  type ClusterDefaults,
  type ClusterWishes,
  ContractError,
  say,
  verbatim,
} from '../../core/contract/index.ts';

/** A file system adds these on its own, or a process that held the folder before. */
const HARMLESS_ENTRIES = ['.owner', '.DS_Store', 'lost+found'];
const FIRST_NAME = 'rehearsal';
const NAMES_TRIED_MAX = 1000;

export const clustersFolder = (dataDirectory: string): string => join(dataDirectory, 'clusters');

export const kubernetesVersions = (): string[] =>
  Array.from({ length: NEWEST_MINOR - OLDEST_MINOR + 1 }, (_, index) => `v1.${NEWEST_MINOR - index}.0`);

const freeName = (taken: ReadonlySet<string>): string => {
  for (let n = 2; n < NAMES_TRIED_MAX && taken.has(FIRST_NAME); n += 1)
    if (!taken.has(`${FIRST_NAME}-${n}`)) return `${FIRST_NAME}-${n}`;
  return FIRST_NAME;
};

export const clusterDefaults = (dataDirectory: string, taken: ReadonlySet<string>): ClusterDefaults => {
  const { topology, controlPlanes, etcdMembers, workers, kubernetesVersion } = defaultSpec(0);
  return {
    wishes: {
      name: freeName(taken),
      directory: null,
      topology,
      controlPlanes,
      etcdMembers,
      workers,
      kubernetesVersion,
    },
    parentDirectory: clustersFolder(dataDirectory),
    kubernetesVersions: kubernetesVersions(),
  };
};

export const specWishesOf = (wishes: ClusterWishes, network: number): SpecWishes => {
  const { topology, controlPlanes, workers, kubernetesVersion, purpose } = wishes;
  const etcdMembers = topology === 'stacked' ? controlPlanes : wishes.etcdMembers;
  const spec = { topology, controlPlanes, etcdMembers, workers, kubernetesVersion, network };
  return { ...spec, ...(purpose && { purpose }) };
};

/** Where the cluster goes, as a full path. */
export const directoryOf = ({ directory, name }: ClusterWishes, dataDirectory: string): string => {
  if (directory === null) return join(clustersFolder(dataDirectory), name);
  const typed = directory.trim();
  const expanded = typed === '~' || typed.startsWith('~/') ? join(homedir(), typed.slice(1)) : typed;
  if (!isAbsolute(expanded))
    throw new ContractError('BadRequest', say('failure.notFullPath', { path: directory }));
  return normalize(expanded).replace(/(?<=.)[/\\]+$/, '');
};

/** Keys are not put among somebody else's files. */
export const assertRoomFor = async (directory: string): Promise<void> => {
  if (existsSync(clusterFile(directory)))
    throw new ContractError('Conflict', say('failure.directoryTaken', { directory }));
  let entries: string[];
  try {
    entries = await readdir(directory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    const why =
      code === 'ENOTDIR'
        ? say('failure.isFile')
        : code === 'EACCES'
          ? say('failure.permissionDenied')
          : verbatim(String(error));
    throw new ContractError('BadRequest', say('failure.directoryUnusable', { directory, why }), {
      cause: error,
    });
  }
  const foreign = entries.filter((name) => !HARMLESS_ENTRIES.includes(name));
  if (foreign.length > 0)
    throw new ContractError('BadRequest', say('failure.directoryNotEmpty', { directory }));
};
