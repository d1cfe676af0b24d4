import { constants } from 'node:fs';
import { chmod, lstat, mkdir, open, readlink, realpath, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

/** Linux's, which Node does not name: a descriptor that stands for a place and opens nothing there, not even a pipe. */
const O_PATH = 0o10000000;
const PLACE = O_PATH | constants.O_NOFOLLOW;
const MODE_BITS = 0o7777;
/** Linux's PATH_MAX, and with it the number of directories that one subPath makes. */
const PATH_BYTES_MAX = 4_096;

/** A subPath whose links have been followed. What a container changes from here on must not matter. */
export interface ResolvedSubPath {
  readonly volume: string;
  /** Below the volume, without links at the time of looking. */
  readonly found: readonly string[];
  /** Directories to make below that. */
  readonly missing: readonly string[];
}

/** The path by which the kernel reaches what a descriptor of this process stands for, whatever has been renamed since. */
export const pathOf = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`;

const namesOf = (path: string): readonly string[] =>
  path.split('/').filter((name) => name !== '' && name !== '.');

const isErrno = (error: unknown, code: 'ENOENT' | 'EEXIST'): boolean =>
  (error as NodeJS.ErrnoException).code === code;

const belowVolume = (volume: string, path: string): readonly string[] => {
  const isBelow = path === volume || path.startsWith(volume === '/' ? '/' : `${volume}/`);
  if (!isBelow) throw new Error('it leads out of the volume');
  return namesOf(path.slice(volume.length));
};

/** Rejects links that lead out of the volume. Only `openSubPath` makes sure, since a container may replace what was found. */
export const resolveSubPath = async (volumePath: string, subPath: string): Promise<ResolvedSubPath> => {
  const volume = await realpath(volumePath);
  const names = namesOf(subPath);
  if (names.includes('..')) throw new Error("it must not contain '..'");
  if (Buffer.byteLength(join(volume, subPath)) >= PATH_BYTES_MAX) throw new Error('it is too long');
  let at = volume;
  for (const [index, name] of names.entries()) {
    const next = join(at, name);
    const found = await lstat(next).catch((error: unknown) => {
      if (isErrno(error, 'ENOENT')) return undefined;
      throw error;
    });
    if (!found) return { volume, found: belowVolume(volume, at), missing: names.slice(index) };
    at = found.isSymbolicLink() ? await realpath(next) : next;
    belowVolume(volume, at);
  }
  return { volume, found: belowVolume(volume, at), missing: [] };
};

/** As openat(2) with O_NOFOLLOW, which Node does not have. */
const openIn = async (
  parent: FileHandle,
  name: string,
  prepare?: (child: FileHandle) => Promise<void>,
): Promise<FileHandle> => {
  const child = await open(`${pathOf(parent)}/${name}`, PLACE);
  try {
    if ((await child.stat()).isSymbolicLink()) throw new Error(`unexpected symbolic link "${name}"`);
    await prepare?.(child);
    return child;
  } catch (error) {
    await child.close();
    throw error;
  }
};

/** What a container puts in the place of a new directory has been in the volume before, or it is a link. */
const makeIn = async (parent: FileHandle, name: string, mode: number): Promise<FileHandle> => {
  try {
    await mkdir(`${pathOf(parent)}/${name}`, mode);
  } catch (error) {
    // Another container of the pod begins with the same subPath.
    if (isErrno(error, 'EEXIST')) return openIn(parent, name);
    throw error;
  }
  return openIn(parent, name, async (child) => {
    // Whatever the umask of this process is.
    if ((await child.stat()).isDirectory()) await chmod(pathOf(child), mode);
  });
};

/**
 * A descriptor of the file or directory, which nothing that a container does can make another one: each name is opened in
 * the descriptor of its parent, and no link is followed. Missing directories get the mode of the volume. The caller closes it.
 */
export const openSubPath = async ({ volume, found, missing }: ResolvedSubPath): Promise<FileHandle> => {
  let at = await open(volume, PLACE | constants.O_DIRECTORY);
  const enter = async (child: Promise<FileHandle>): Promise<void> => {
    const parent = at;
    at = await child;
    await parent.close();
  };
  try {
    const mode = (await at.stat()).mode & MODE_BITS;
    for (const name of found) await enter(openIn(at, name));
    for (const name of missing) await enter(makeIn(at, name, mode));
    belowVolume(volume, await readlink(pathOf(at)));
    return at;
  } catch (error) {
    await at.close();
    throw error;
  }
};
