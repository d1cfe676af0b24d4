import { posix } from 'node:path';
import type { VolumeContent, VolumeFile } from '../../../volumes/pod-volumes.ts';

export interface FileEntry {
  readonly name: string;
  readonly isDirectory: boolean;
  readonly sizeBytes: number;
  /** Permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly mtimeMs: number;
}

export interface FileTraits {
  readonly mode?: number | undefined;
  readonly mtimeMs?: number | undefined;
}

export interface Mount {
  readonly path: string;
  readonly content: VolumeContent;
  /** Below the volume, as `subPath` has it. */
  readonly subPath: string;
  readonly isReadOnly: boolean;
  /** The directory at the top of the volume. */
  readonly top?: { readonly mode: number; readonly gid: number };
}

/** How a container sees its files. */
export interface FileAccess {
  readonly user?: { readonly uid: number; readonly gid: number; readonly groups?: readonly number[] };
  /** `readOnlyRootFilesystem`: volumes can be written, and what is named here. */
  readonly isReadOnlyRoot?: boolean;
  readonly writable?: readonly string[];
}

/** Where a version of a ConfigMap and its like is; the names that users see lead through it. */
const DATA = '..data';

/** As much as a container may keep in its own layer, and a pod in one volume. */
export const LAYER_BYTES_MAX = 1024 * 1024;
/** Files and directories of a layer or a volume, as the inodes of a file system. */
export const FILES_MAX = 1_024;
export const PATH_CHARACTERS_MAX = 4_095;
export const NAME_CHARACTERS_MAX = 255;
/** A look at one file costs as much as so much text. */
const CHARACTERS_PER_FILE = 16;
const FILE_MODE = 0o644;

export type FileFailure =
  | 'No such file or directory'
  | 'Is a directory'
  | 'Not a directory'
  | 'Read-only file system'
  | 'Permission denied'
  | 'Invalid argument'
  | 'No space left on device'
  | 'File name too long';

export class FileError extends Error {
  override readonly name = 'FileError';
  readonly why: FileFailure;

  constructor(path: string, why: FileFailure) {
    super(`${path}: ${why}`);
    this.why = why;
  }
}

const checkName = (path: string): void => {
  if (path.length > PATH_CHARACTERS_MAX || posix.basename(path).length > NAME_CHARACTERS_MAX)
    throw new FileError(`${path.slice(0, NAME_CHARACTERS_MAX)}...`, 'File name too long');
};

const bytesOf = (files: ReadonlyMap<string, { readonly content: Uint8Array }>): number => {
  let bytes = 0;
  for (const { content } of files.values()) bytes += content.length;
  return bytes;
};

const DIRECTORIES = [
  '/',
  '/bin',
  '/dev',
  '/etc',
  '/home',
  '/proc',
  '/root',
  '/tmp',
  '/usr',
  '/usr/bin',
  '/var',
];

/** What a container has written outside of its volumes; lives as long as the container. */
export interface WritableLayer {
  readonly files: Map<string, VolumeFile>;
  readonly directories: Set<string>;
  bytes: number;
}

export const newLayer = (files: ReadonlyMap<string, string>): WritableLayer => {
  const own = new Map(
    [...files].map(([path, text]) => [path, { content: Buffer.from(text), mode: FILE_MODE }] as const),
  );
  return { files: own, directories: new Set(DIRECTORIES), bytes: bytesOf(own) };
};

/** What a container sees as its disk: its layer over an image's few files, and the pod's volumes. */
export class MemoryFileSystem {
  readonly #own: WritableLayer;
  readonly #mounts: readonly Mount[];
  readonly #charge: (characters: number) => void;
  readonly #access: FileAccess;
  readonly #nowMs: () => number;

  /** `charge` is told how much work a look at many files was. */
  constructor(
    layer: WritableLayer,
    mounts: readonly Mount[],
    options: FileAccess & {
      readonly charge?: (characters: number) => void;
      readonly nowMs?: () => number;
    } = {},
  ) {
    this.#access = options;
    this.#own = layer;
    this.#charge = options.charge ?? (() => undefined);
    this.#nowMs = options.nowMs ?? (() => 0);
    // The longest mount path is the nearest.
    this.#mounts = [...mounts].sort((a, b) => b.path.length - a.path.length);
  }

  get mounts(): readonly Mount[] {
    return this.#mounts;
  }

  read(path: string): Uint8Array {
    if (path === '/dev/null') return new Uint8Array();
    const found = this.#find(path);
    if (found) {
      if (!this.#mayRead(found)) throw new FileError(path, 'Permission denied');
      return found.content;
    }
    throw new FileError(path, this.isDirectory(path) ? 'Is a directory' : 'No such file or directory');
  }

  exists(path: string): boolean {
    return path === '/dev/null' || this.#find(path) !== undefined || this.isDirectory(path);
  }

  isDirectory(path: string): boolean {
    if (this.#own.directories.has(path) || this.#mountAt(path)) return true;
    const fixed = this.#mounts.find((mount) => path === `${mount.path}/${DATA}`);
    if (fixed && !fixed.content.isWritable) return true;
    const prefix = path === '/' ? '/' : `${path}/`;
    let isFound = false;
    for (const known of this.#own.files.keys()) isFound ||= known.startsWith(prefix);
    for (const mount of this.#mounts)
      for (const key of mount.content.files.keys())
        isFound ||= this.#isShown(mount, key) && this.#outside(mount, key).startsWith(prefix);
    this.#charge(this.#fileCount() * CHARACTERS_PER_FILE);
    return isFound;
  }

  /** Keeps owner and mode of a file that exists, unless another mode is given. */
  write(path: string, content: Uint8Array, traits: FileTraits = {}): void {
    if (path === '/dev/null') return;
    checkName(path);
    if (this.isDirectory(path)) throw new FileError(path, 'Is a directory');
    if (!this.isDirectory(posix.dirname(path))) throw new FileError(path, 'No such file or directory');
    const mount = this.#mountOf(path);
    const before = this.#find(path);
    const { uid = 0, gid = 0 } = before ?? this.#access.user ?? {};
    const mode = traits.mode ?? before?.mode ?? FILE_MODE;
    const file = { content, mode, uid, gid, mtimeMs: traits.mtimeMs ?? this.#nowMs() };
    if (mount) {
      if (mount.isReadOnly || !mount.content.isWritable) throw new FileError(path, 'Read-only file system');
      this.#writeVolume(mount.content.files, this.#inside(mount, path), path, file);
      return;
    }
    this.#checkRoot(path);
    const grown = this.#own.bytes + content.length - (this.#own.files.get(path)?.content.length ?? 0);
    const isFull = this.#own.files.size >= FILES_MAX && !this.#own.files.has(path);
    if (isFull || grown > LAYER_BYTES_MAX) throw new FileError(path, 'No space left on device');
    this.#own.bytes = grown;
    this.#own.files.set(path, file);
  }

  makeDirectory(path: string): void {
    checkName(path);
    if (this.#find(path)) throw new FileError(path, 'Not a directory');
    if (this.#own.directories.size >= FILES_MAX) throw new FileError(path, 'No space left on device');
    const mount = this.#mountOf(path);
    if (mount && (mount.isReadOnly || !mount.content.isWritable))
      throw new FileError(path, 'Read-only file system');
    if (!mount) this.#checkRoot(path);
    this.#own.directories.add(path);
  }

  remove(path: string): void {
    const mount = this.#mountOf(path);
    if (mount) {
      if (mount.isReadOnly || !mount.content.isWritable) throw new FileError(path, 'Read-only file system');
      for (const key of [...mount.content.files.keys()])
        if (this.#isWithin(this.#outside(mount, key), path)) mount.content.files.delete(key);
    }
    for (const [key, { content }] of [...this.#own.files])
      if (this.#isWithin(key, path)) {
        this.#own.files.delete(key);
        this.#own.bytes -= content.length;
      }
    for (const key of [...this.#own.directories])
      if (this.#isWithin(key, path)) this.#own.directories.delete(key);
  }

  list(path: string): FileEntry[] {
    if (!this.isDirectory(path)) {
      if (this.#find(path)) throw new FileError(path, 'Not a directory');
      throw new FileError(path, 'No such file or directory');
    }
    const prefix = path === '/' ? '/' : `${path}/`;
    const names = new Set<string>();
    const inside = [
      ...this.#allPaths(),
      ...this.#own.directories,
      ...this.#mounts.map((mount) => mount.path),
    ];
    for (const known of inside)
      if (known.startsWith(prefix) && known !== prefix) names.add(known.slice(prefix.length).split('/')[0]!);
    return [...names].sort().map((name) => this.stat(prefix + name));
  }

  stat(path: string): FileEntry {
    const name = posix.basename(path);
    const file = this.#find(path);
    const mtimeMs = file?.mtimeMs ?? this.#nowMs();
    if (file) {
      const { content, mode, uid = 0, gid = 0 } = file;
      return { name, isDirectory: false, sizeBytes: content.length, mode, uid, gid, mtimeMs };
    }
    if (!this.exists(path)) throw new FileError(path, 'No such file or directory');
    const { mode = 0o755, gid = 0 } = this.#mountAt(path)?.top ?? {};
    return { name, isDirectory: true, sizeBytes: 4096, mode, uid: 0, gid, mtimeMs };
  }

  /** Where a name leads: those at the top of a ConfigMap and its like lead through `..data`. */
  link(path: string): string {
    const mount = this.#mounts.find(({ path: top }) => top === posix.dirname(path));
    const name = posix.basename(path);
    if (!this.exists(path)) throw new FileError(path, 'No such file or directory');
    if (!mount || mount.content.isWritable || mount.subPath !== '')
      throw new FileError(path, 'Invalid argument');
    return `${DATA}/${name}`;
  }

  #checkRoot(path: string): void {
    const { isReadOnlyRoot, writable = [] } = this.#access;
    if (isReadOnlyRoot && !writable.includes(path)) throw new FileError(path, 'Read-only file system');
  }

  #mayRead({ mode, uid = 0, gid = 0 }: { mode: number; uid?: number; gid?: number }): boolean {
    const { user } = this.#access;
    if (!user || user.uid === 0) return true;
    if (user.uid === uid) return (mode & 0o400) !== 0;
    const isOfGroup = user.gid === gid || (user.groups ?? []).includes(gid);
    return (mode & (isOfGroup ? 0o040 : 0o004)) !== 0;
  }

  #writeVolume(files: VolumeContent['files'], key: string, path: string, file: VolumeFile): void {
    const before = files.get(key);
    const isFull = before === undefined && files.size >= FILES_MAX;
    if (isFull || bytesOf(files) - (before?.content.length ?? 0) + file.content.length > LAYER_BYTES_MAX)
      throw new FileError(path, 'No space left on device');
    files.set(key, file);
  }

  #find(path: string): VolumeFile | undefined {
    const mount = this.#mountOf(path);
    if (mount) return mount.content.files.get(this.#inside(mount, path));
    return this.#own.files.get(path);
  }

  #mountAt(path: string): Mount | undefined {
    return this.#mounts.find((mount) => mount.path === path && !this.#isFileMount(mount));
  }

  /** `subPath` may name a single file, which is then mounted over the path itself. */
  #isFileMount(mount: Mount): boolean {
    return mount.subPath !== '' && mount.content.files.has(mount.subPath);
  }

  #mountOf(path: string): Mount | undefined {
    return this.#mounts.find((mount) => this.#isWithin(path, mount.path));
  }

  #isWithin(path: string, folder: string): boolean {
    return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
  }

  #inside(mount: Mount, path: string): string {
    const below = path.slice(mount.path.length).replace(/^\//, '');
    const rest = mount.content.isWritable ? below : below.replace(/^\.\.data(\/|$)/, '');
    return [mount.subPath, rest].filter((part) => part !== '').join('/');
  }

  #outside(mount: Mount, key: string): string {
    const rest = mount.subPath === '' ? key : key.slice(mount.subPath.length).replace(/^\//, '');
    return rest === '' ? mount.path : posix.join(mount.path, rest);
  }

  #isShown(mount: Mount, key: string): boolean {
    return mount.subPath === '' || this.#isWithin(key, mount.subPath);
  }

  #fileCount(): number {
    return this.#mounts.reduce((sum, { content }) => sum + content.files.size, this.#own.files.size);
  }

  #allPaths(): string[] {
    this.#charge(this.#fileCount() * CHARACTERS_PER_FILE);
    const mounted = this.#mounts.flatMap((mount) =>
      [...mount.content.files.keys()]
        .filter((key) => this.#isShown(mount, key))
        .map((key) => this.#outside(mount, key)),
    );
    return [...this.#own.files.keys(), ...mounted];
  }
}
