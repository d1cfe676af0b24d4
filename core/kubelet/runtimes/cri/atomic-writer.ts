import { createHash } from 'node:crypto';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { VolumeFile } from '../../volumes/pod-volumes.ts';

const DATA = '..data';
const DATA_NEXT = '..data_tmp';
const FOLDER_MODE = 0o755;
/** As chown(2): this identity does not change. */
const KEPT = -1;

export interface WriteOptions {
  /** `fsGroup`: the group of directories. */
  readonly gid?: number | undefined;
  /** Of the directory at the top. */
  readonly mode?: number;
}

/** Undefined when the path would leave the volume, or meet what the writer keeps there. */
const safeParts = (path: string): readonly string[] | undefined => {
  const parts = path.split('/').filter((part) => part !== '');
  return parts.length === 0 || parts.includes('..') || path.startsWith('/') || parts[0]!.startsWith('..')
    ? undefined
    : parts;
};

const writeAll = async (
  folder: string,
  files: ReadonlyMap<string, VolumeFile>,
  { gid }: WriteOptions,
): Promise<void> => {
  await chmod(folder, FOLDER_MODE);
  if (gid !== undefined) await chown(folder, -1, gid);
  for (const [path, file] of files) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true, mode: FOLDER_MODE });
    await writeFile(target, file.content);
    if (file.uid !== undefined || file.gid !== undefined)
      await chown(target, file.uid ?? KEPT, file.gid ?? KEPT);
    // After the owner: a change of owner takes bits away.
    await chmod(target, file.mode);
  }
};

/** Of names, modes and contents, so that no copy of a Secret is kept. */
const digestOf = (files: ReadonlyMap<string, VolumeFile>): string => {
  const hash = createHash('sha256');
  for (const [path, { content, mode, uid, gid }] of files)
    hash.update(`${path}\0${mode}\0${uid ?? ''}\0${gid ?? ''}\0${content.byteLength}\0`).update(content);
  return hash.digest('hex');
};

/** Removes what no longer belongs to the volume at the top, and links what is new. */
const linkTop = async (folder: string, names: ReadonlySet<string>): Promise<void> => {
  for (const name of await readdir(folder))
    if (!name.startsWith('..') && !names.has(name)) await rm(join(folder, name), { recursive: true });
  for (const name of names) {
    const link = join(folder, name);
    const known = await lstat(link).catch(() => undefined);
    if (!known) await symlink(join(DATA, name), link);
  }
};

/**
 * Files of a volume as upstream's atomic writer lays them out: each version in a folder of its own, `..data` points to
 * the current one, and the names that users see point through it. A reader sees one version or the other, never both.
 */
export class AtomicWriter {
  readonly #folder: string;
  #written: string | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Rejects a path that would leave the volume before anything is written. True when something has changed. */
  async write(files: ReadonlyMap<string, VolumeFile>, options: WriteOptions = {}): Promise<boolean> {
    const folder = this.#folder;
    const safe = new Map<string, VolumeFile>();
    for (const [path, file] of files) {
      const parts = safeParts(path);
      if (!parts) throw new Error(`invalid path: "${path}" leaves the volume`);
      safe.set(parts.join('/'), file);
    }
    const digest = digestOf(safe);
    const before = await readlink(join(folder, DATA)).catch(() => undefined);
    if (this.#written === digest && before !== undefined) return false;
    await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    if (options.gid !== undefined) await chown(folder, KEPT, options.gid);
    await chmod(folder, options.mode ?? FOLDER_MODE);
    const version = await mkdtemp(`${folder}/..`);
    try {
      await writeAll(version, safe, options);
      await rm(join(folder, DATA_NEXT), { force: true });
      await symlink(version.slice(folder.length + 1), join(folder, DATA_NEXT));
      await rename(join(folder, DATA_NEXT), join(folder, DATA));
    } catch (error) {
      await rm(version, { recursive: true, force: true });
      throw error;
    }
    await linkTop(folder, new Set([...safe.keys()].map((path) => path.split('/')[0]!)));
    if (before !== undefined && before !== '' && !before.includes('/'))
      await rm(join(folder, before), { recursive: true, force: true });
    this.#written = digest;
    return true;
  }
}
