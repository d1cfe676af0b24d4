import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { say, type Said } from '../../contract/index.ts';

/** Folders whose content is the cluster: keys, credentials, what is stored, what was logged. */
const PRIVATE_FOLDERS = ['pki', 'kubeconfig', 'hosts', 'backups', 'audit', 'serve'];
const PUBLIC_FILE = /\.(crt|pub)$/;
const OTHERS_BITS = 0o077;
const ENTRIES_MAX = 50_000;

const entriesOf = async (folder: string): Promise<readonly Dirent[]> => {
  try {
    return await readdir(folder, { recursive: true, withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
};

interface Exposed {
  readonly path: string;
  readonly fault: Said;
  /** Its mode, and not its owner, is wrong. */
  readonly isOwn: boolean;
}

const exposedEntries = async (data: string, uid: number): Promise<readonly Exposed[]> => {
  const exposed: Exposed[] = [];
  const look = async (path: string, isPublic: boolean): Promise<void> => {
    const stats = await lstat(path).catch(() => undefined);
    // Logs and segments come and go while they are looked at.
    if (stats === undefined || stats.isSymbolicLink()) return;
    const name = relative(data, path) || '.';
    const mode = (stats.mode & 0o777).toString(8);
    if (stats.uid !== uid) {
      const fault = say('found.file.owner', { path: name, user: `${stats.uid}` });
      exposed.push({ path, fault, isOwn: false });
    } else if (!isPublic && (stats.mode & OTHERS_BITS) !== 0)
      exposed.push({ path, fault: say('found.file.mode', { path: name, mode }), isOwn: true });
  };
  for (const folder of PRIVATE_FOLDERS) {
    await look(join(data, folder), false);
    const entries = await entriesOf(join(data, folder));
    for (const entry of entries.slice(0, ENTRIES_MAX))
      if (entry.isFile() || entry.isDirectory())
        await look(join(entry.parentPath, entry.name), PUBLIC_FILE.test(entry.name));
  }
  return exposed;
};

/** Everything below the folder that somebody else could read, or that is somebody else's. */
export const exposedFiles = async (data: string, uid: number): Promise<Said[]> =>
  (await exposedEntries(data, uid)).map(({ fault }) => fault);

/** Those whose mode is wrong. */
export const exposedPaths = async (data: string, uid: number): Promise<readonly string[]> =>
  (await exposedEntries(data, uid)).filter(({ isOwn }) => isOwn).map(({ path }) => path);
