import { readdir, rm, stat } from 'node:fs/promises';
import { type Said, SaidError, saidOf, say } from '../../contract/index.ts';
import { basename, dirname, join, resolve } from 'node:path';
import type { SnapshotFile } from '../../contract/schemas/operations.ts';
import { verifySnapshot, type SnapshotStatus } from '../../etcd/snapshot/index.ts';
import { backupsFolder } from '../data-folder/layout.ts';
import { isScheduledName, SNAPSHOT_SUFFIX } from '../data-folder/backup-name.ts';
import { snapshotFolders } from './schedule.ts';

/** More snapshots than a person goes through. */
const FILES_MAX = 1000;

interface Damaged {
  readonly problem: Said;
}

/** Each file is read whole once; a file of another size or time is another file. */
const known = new Map<string, SnapshotStatus | Damaged>();
const KNOWN_MAX = 2 * FILES_MAX;

const checked = async (path: string, key: string): Promise<SnapshotStatus | Damaged> => {
  const before = known.get(key);
  if (before !== undefined) return before;
  const found = await verifySnapshot(path, { skipHashCheck: false }).catch((error: unknown) => ({
    problem: saidOf(error),
  }));
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(key, found);
  return found;
};

/** One snapshot file, with every page checked. */
export const describeSnapshot = async (path: string): Promise<SnapshotFile> => {
  const { size, mtimeMs } = await stat(path);
  const found = await checked(path, `${path}\0${size}\0${mtimeMs}`);
  const status = 'problem' in found ? undefined : found;
  const name = basename(path);
  return {
    file: path,
    name,
    bytes: size,
    createdAtMs: mtimeMs,
    revision: status?.revision ?? 0,
    keys: status?.totalKey ?? 0,
    hash: status === undefined ? '' : status.hash.toString(16),
    isScheduled: isScheduledName(name),
    problem: 'problem' in found ? found.problem : null,
  };
};

const snapshotsIn = async (folder: string): Promise<readonly string[]> => {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((one) => one.endsWith(SNAPSHOT_SUFFIX)).map((name) => join(folder, name));
};

/** The files in `backups/` and in the directory of the schedule. */
export const snapshotPaths = async (data: string): Promise<readonly string[]> =>
  (await Promise.all((await snapshotFolders(data)).map(snapshotsIn))).flat();

/** The snapshots of this cluster, newest first. */
export const listSnapshots = async (data: string): Promise<readonly SnapshotFile[]> => {
  const files: SnapshotFile[] = [];
  for (const path of (await snapshotPaths(data)).slice(0, FILES_MAX))
    files.push(await describeSnapshot(path));
  return files.sort((a, b) => b.createdAtMs - a.createdAtMs);
};

/** Only what is in a folder of snapshots is deleted: a path that leads elsewhere is somebody else's file. */
export const deleteSnapshot = async (data: string, file: string): Promise<void> => {
  const path = resolve(backupsFolder(data), file);
  const folders = (await snapshotFolders(data)).map((folder) => resolve(folder));
  if (!folders.includes(dirname(path)) || !path.endsWith(SNAPSHOT_SUFFIX))
    throw new SaidError('NotFound', say('failure.snapshot.none', { file, folder: folders.join(', ') }));
  await rm(path);
};
