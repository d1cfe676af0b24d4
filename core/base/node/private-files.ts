import { chmod, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
const OTHERS = 0o077;

const restrictOne = async (path: string, mode: number): Promise<void> => {
  const found = await lstat(path);
  // A link's own mode means nothing, and what it leads to is not ours to change.
  if (!found.isSymbolicLink() && (found.mode & OTHERS) !== 0) await chmod(path, mode);
};

/**
 * Takes a folder and the files in it away from everybody but their owner: folders that an older release or a copy left
 * readable. Folders inside it are left alone; an absent one is fine.
 */
export const restrict = async (directory: string): Promise<void> => {
  if (process.platform === 'win32') return;
  const entries = await unlessMissing(readdir(directory, { withFileTypes: true }));
  if (entries === undefined) return;
  await unlessMissing(restrictOne(directory, DIRECTORY_MODE));
  for (const entry of entries)
    // Files come and go while they are looked at.
    if (entry.isFile()) await unlessMissing(restrictOne(join(directory, entry.name), FILE_MODE));
};

const unlessMissing = async <T>(looking: Promise<T>): Promise<T | undefined> => {
  try {
    return await looking;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
};
