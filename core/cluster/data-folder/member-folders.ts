import { existsSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import { etcdFolder } from './layout.ts';
import { putManifestBack } from './manifest-aside.ts';

/** Paths of a member's data, of its staged restored data, and of its previous data. */
export interface MemberFolders {
  readonly host: string;
  readonly data: string;
  readonly fresh: string;
  readonly before: string;
}

/** Written before anything is stopped: anyone who finds it puts everything back. */
interface Journal {
  readonly stamp: string;
  readonly etcdHosts: readonly string[];
  readonly apiHosts: readonly string[];
}

const journalFile = (data: string): string => join(data, 'restore.json');

export const memberFolders = (data: string, host: string, stamp: string): MemberFolders => {
  const folder = etcdFolder(data, host);
  return { host, data: folder, fresh: `${folder}.fresh-${stamp}`, before: `${folder}.before-${stamp}` };
};

export const beginSwap = (data: string, journal: Journal): Promise<void> =>
  writeFileAtomically(journalFile(data), `${JSON.stringify(journal)}\n`);

export const endSwap = (data: string): Promise<void> => rm(journalFile(data), { force: true });

export const swapIn = async (places: readonly MemberFolders[]): Promise<void> => {
  for (const { data, fresh, before } of places) {
    if (existsSync(data)) await rename(data, before);
    await rename(fresh, data);
  }
};

/** Puts the previous data back and drops the restored data. */
export const swapBack = async (places: readonly MemberFolders[]): Promise<void> => {
  for (const { data, fresh, before } of places) {
    if (existsSync(before)) {
      await rm(fresh, { recursive: true, force: true });
      if (existsSync(data)) await rename(data, fresh);
      await rename(before, data);
    }
    await rm(fresh, { recursive: true, force: true });
  }
};

/** Manifests that are not aside are where they belong. */
export const putManifestsBack = async (
  data: string,
  hosts: readonly string[],
  component: string,
): Promise<void> => {
  for (const host of hosts) await putManifestBack(data, host, component).catch(() => undefined);
};

/**
 * A restore that was cut off by a crash is undone: half of the members on new data would be two clusters. Called before
 * any host runs; true when there was something to undo.
 */
export const undoInterruptedRestore = async (data: string): Promise<boolean> => {
  let text: string;
  try {
    text = await readFile(journalFile(data), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  const { stamp, etcdHosts, apiHosts } = JSON.parse(text) as Journal;
  await swapBack(etcdHosts.map((host) => memberFolders(data, host, stamp)));
  await putManifestsBack(data, etcdHosts, 'etcd');
  await putManifestsBack(data, apiHosts, 'kube-apiserver');
  await endSwap(data);
  return true;
};
