import { posix } from 'node:path';
import type { VolumeContent } from '../../../volumes/pod-volumes.ts';

export interface FileEntry {
  readonly name: string;
  readonly isDirectory: boolean;
  readonly sizeBytes: number;
  readonly mode: number;
}

export interface Mount {
  readonly path: string;
  readonly content: VolumeContent;
  /** Below the volume, as `subPath` has it. */
  readonly subPath: string;
  readonly isReadOnly: boolean;
}

/** As much as a container may keep in its own layer. */
export const LAYER_BYTES_MAX = 1024 * 1024;

export type FileFailure =
  | 'No such file or directory'
  | 'Is a directory'
  | 'Not a directory'
  | 'Read-only file system'
  | 'No space left on device';

export class FileError extends Error {
  override readonly name = 'FileError';
  readonly why: FileFailure;

  constructor(path: string, why: FileFailure) {
    super(`${path}: ${why}`);
    this.why = why;
  }
}

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
  readonly files: Map<string, Uint8Array>;
  readonly directories: Set<string>;
  bytes: number;
}

export const newLayer = (files: ReadonlyMap<string, string>): WritableLayer => ({
  files: new Map([...files].map(([path, text]) => [path, Buffer.from(text)])),
  directories: new Set(DIRECTORIES),
  bytes: 0,
});

/** What a container sees as its disk: its layer over an image's few files, and the pod's volumes. */
export class MemoryFileSystem {
  readonly #own: WritableLayer;
  readonly #mounts: readonly Mount[];

  constructor(layer: WritableLayer, mounts: readonly Mount[]) {
    this.#own = layer;
    // The longest mount path is the nearest.
    this.#mounts = [...mounts].sort((a, b) => b.path.length - a.path.length);
  }

  get mounts(): readonly Mount[] {
    return this.#mounts;
  }

  read(path: string): Uint8Array {
    if (path === '/dev/null') return new Uint8Array();
    const found = this.#find(path);
    if (found) return found.content;
    throw new FileError(path, this.isDirectory(path) ? 'Is a directory' : 'No such file or directory');
  }

  exists(path: string): boolean {
    return path === '/dev/null' || this.#find(path) !== undefined || this.isDirectory(path);
  }

  isDirectory(path: string): boolean {
    if (this.#own.directories.has(path) || this.#mountAt(path)) return true;
    const prefix = path === '/' ? '/' : `${path}/`;
    return this.#allPaths().some((known) => known.startsWith(prefix));
  }

  write(path: string, content: Uint8Array): void {
    if (path === '/dev/null') return;
    if (this.isDirectory(path)) throw new FileError(path, 'Is a directory');
    if (!this.isDirectory(posix.dirname(path))) throw new FileError(path, 'No such file or directory');
    const mount = this.#mountOf(path);
    if (mount) {
      if (mount.isReadOnly || !mount.content.isWritable) throw new FileError(path, 'Read-only file system');
      mount.content.files.set(this.#inside(mount, path), { content, mode: 0o644 });
      return;
    }
    const grown = this.#own.bytes + content.length - (this.#own.files.get(path)?.length ?? 0);
    if (grown > LAYER_BYTES_MAX) throw new FileError(path, 'No space left on device');
    this.#own.bytes = grown;
    this.#own.files.set(path, content);
  }

  makeDirectory(path: string): void {
    const mount = this.#mountOf(path);
    if (mount && (mount.isReadOnly || !mount.content.isWritable))
      throw new FileError(path, 'Read-only file system');
    this.#own.directories.add(path);
  }

  remove(path: string): void {
    const mount = this.#mountOf(path);
    if (mount) {
      if (mount.isReadOnly || !mount.content.isWritable) throw new FileError(path, 'Read-only file system');
      for (const key of [...mount.content.files.keys()])
        if (this.#isWithin(this.#outside(mount, key), path)) mount.content.files.delete(key);
    }
    for (const key of [...this.#own.files.keys()]) if (this.#isWithin(key, path)) this.#own.files.delete(key);
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
    if (file) return { name, isDirectory: false, sizeBytes: file.content.length, mode: file.mode };
    if (!this.exists(path)) throw new FileError(path, 'No such file or directory');
    return { name, isDirectory: true, sizeBytes: 4096, mode: 0o755 };
  }

  #find(path: string): { readonly content: Uint8Array; readonly mode: number } | undefined {
    const mount = this.#mountOf(path);
    if (mount) return mount.content.files.get(this.#inside(mount, path));
    const content = this.#own.files.get(path);
    return content && { content, mode: 0o644 };
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
    const rest = path.slice(mount.path.length).replace(/^\//, '');
    return [mount.subPath, rest].filter((part) => part !== '').join('/');
  }

  #outside(mount: Mount, key: string): string {
    const rest = mount.subPath === '' ? key : key.slice(mount.subPath.length).replace(/^\//, '');
    return rest === '' ? mount.path : posix.join(mount.path, rest);
  }

  #allPaths(): string[] {
    const mounted = this.#mounts.flatMap((mount) =>
      [...mount.content.files.keys()]
        .filter((key) => mount.subPath === '' || this.#isWithin(key, mount.subPath))
        .map((key) => this.#outside(mount, key)),
    );
    return [...this.#own.files.keys(), ...mounted];
  }
}
