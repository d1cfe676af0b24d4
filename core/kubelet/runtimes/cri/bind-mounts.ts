import { execFile } from 'node:child_process';
import {
  lstat,
  mkdir,
  readFile,
  realpath,
  rm,
  rmdir,
  unlink,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const FOLDER_MODE = 0o750;
const FILE_MODE = 0o640;
/** mount(8) and umount(8) need milliseconds, unless what is behind a mount hangs. */
const TIMEOUT_MS = 30_000;
const SUB_PATHS = 'volume-subpaths';
/** Tells volumes in memory from whatever else is mounted. */
const MEMORY_SOURCE = 'pilothouse-volume';

export interface SubPathMount {
  readonly podFolder: string;
  readonly volume: string;
  readonly container: string;
  /** Of the mount in the container's list. */
  readonly index: number;
}

/** The mount points below a folder, or at it, in the order of mounting. Takes the text of /proc/self/mountinfo. */
export const mountPointsBelow = (mountinfo: string, folder: string): readonly string[] =>
  mountinfo
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    // Blanks and backslashes in names are written in octal.
    .map((path) =>
      path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8))),
    )
    .filter((path) => path === folder || path.startsWith(`${folder}/`));

/** Does not look at the folder itself: what is mounted there may hang. */
const mountsBelow = async (
  folder: string,
  choose: (mountinfo: string) => string = (mountinfo) => mountinfo,
): Promise<readonly string[]> => {
  const parent = await realpath(dirname(folder)).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  });
  if (parent === undefined) return [];
  const mountinfo = choose(await readFile('/proc/self/mountinfo', 'utf8'));
  return mountPointsBelow(mountinfo, join(parent, basename(folder)));
};

const unmount = (path: string, ...options: readonly string[]): Promise<unknown> =>
  run('umount', ['--no-canonicalize', ...options, path], { timeout: TIMEOUT_MS });

/** Not the same either, if the mount is broken. */
const isSameFile = async (source: FileHandle, target: string): Promise<boolean> => {
  const found = await lstat(target, { bigint: true }).catch(() => undefined);
  const { dev, ino } = await source.stat({ bigint: true });
  return found?.dev === dev && found.ino === ino;
};

/** Empty, and a directory where one is to be mounted: an earlier start may have had a file here. */
const freshTarget = async (target: string, isFolder: boolean): Promise<void> => {
  await mkdir(dirname(target), { recursive: true, mode: FOLDER_MODE });
  const old = await lstat(target).catch(() => undefined);
  // Neither goes through a mount.
  if (old) await (old.isDirectory() ? rmdir(target) : unlink(target));
  if (isFolder) await mkdir(target, { mode: FOLDER_MODE });
  else await writeFile(target, '', { flag: 'wx', mode: FILE_MODE });
};

/**
 * Mounts what an open descriptor stands for at a place that no container can change, and answers that place. A start of
 * the same container before has left it there already; the mount stays until `removePodFolder`.
 */
export const bindSubPath = async (source: FileHandle, of: SubPathMount): Promise<string> => {
  const target = join(of.podFolder, SUB_PATHS, of.volume, of.container, String(of.index));
  const mounted = await mountsBelow(target);
  if (mounted.length > 0 && (await isSameFile(source, target))) return target;
  // Lazily: the file behind it may be in use, or its file system may hang.
  for (const path of [...mounted].reverse()) await unmount(path, '--lazy');
  await freshTarget(target, (await source.stat()).isDirectory());
  const from = `/proc/${process.pid}/fd/${source.fd}`;
  await run('mount', ['--no-canonicalize', '-o', 'bind', from, target], { timeout: TIMEOUT_MS });
  return target;
};

/** A tmpfs at a place of the pod, unless an earlier kubelet has left one there. 0: as large as the kernel allows. */
export const mountMemory = async (place: string, bytesMax = 0): Promise<void> => {
  await mkdir(place, { recursive: true });
  if ((await mountsBelow(place)).length > 0) return;
  const size = bytesMax > 0 ? ['-o', `size=${bytesMax}`] : [];
  await run('mount', ['--no-canonicalize', '-t', 'tmpfs', ...size, MEMORY_SOURCE, place], {
    timeout: TIMEOUT_MS,
  });
};

/** The places of `mountMemory` below a folder. Takes the text of /proc/self/mountinfo. */
const memoryMounts = (mountinfo: string): string =>
  mountinfo
    .split('\n')
    .filter((line) => line.includes(` - tmpfs ${MEMORY_SOURCE} `))
    .join('\n');

/** Unmounts volumes in memory and subPaths of all pods below a folder, also those that still run. Nothing without Linux. */
export const unmountVolumes = async (folder: string): Promise<void> => {
  if (process.platform !== 'linux') return;
  for (const path of [...(await mountsBelow(folder))].reverse())
    if (/\/pods\/[^/]+\/(volumes|volume-subpaths)\//.test(path)) await unmount(path, '--lazy');
};

/**
 * Removes all that a pod has on disk once its containers are gone. Mounts of subPaths and volumes in memory are found where
 * they are, so that the kubelet need not be the one that made them. Rejects while anything else is mounted below: a removal would go through
 * it, to files that are not the pod's.
 */
export const removePodFolder = async (folder: string): Promise<void> => {
  for (const path of [...(await mountsBelow(join(folder, SUB_PATHS)))].reverse()) await unmount(path);
  for (const path of [...(await mountsBelow(join(folder, 'volumes'), memoryMounts))].reverse())
    await unmount(path);
  const [left] = await mountsBelow(folder);
  if (left !== undefined)
    throw new Error(`${folder} is kept: ${left} is still mounted; unmount it, and the folder is removed`);
  await rm(folder, { recursive: true, force: true });
};
