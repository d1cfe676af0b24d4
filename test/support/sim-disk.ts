import type { Clock } from '../../core/base/clock.ts';
import type { Disk, DiskFile } from '../../core/base/disk.ts';
import type { Random } from '../../core/base/random.ts';

const SECTOR_BYTES = 512;

export interface SimDiskOptions {
  readonly random: Random;
  /** With a clock each sync takes up to `syncMsMax`. */
  readonly clock?: Clock;
  readonly syncMsMax?: number;
}

/** How the next crash treats one unsynced write; `sectors` keeps a random choice of its sectors. */
export type TearMode = 'lost' | 'whole' | 'prefix' | 'sectors';

type Change =
  | { readonly type: 'write'; readonly offset: number; readonly bytes: Buffer }
  | { readonly type: 'truncate'; readonly length: number };

class Inode {
  current: Buffer = Buffer.alloc(0);
  durable: Buffer = Buffer.alloc(0);
  changes: Change[] = [];

  change(change: Change): void {
    this.current = applied(this.current, change);
    this.changes.push(change);
  }

  sync(changes: readonly Change[]): void {
    for (const change of changes) this.durable = applied(this.durable, change);
    this.changes = this.changes.filter((change) => !changes.includes(change));
  }
}

const applied = (content: Buffer, change: Change): Buffer => {
  if (change.type === 'truncate') {
    const cut = Buffer.alloc(change.length);
    content.copy(cut, 0, 0, Math.min(change.length, content.byteLength));
    return cut;
  }
  const end = change.offset + change.bytes.byteLength;
  const target = end <= content.byteLength ? content : Buffer.alloc(Math.max(end, content.byteLength * 2));
  if (target !== content) content.copy(target);
  const exact = target === content ? content : target.subarray(0, end);
  exact.set(change.bytes, change.offset);
  return exact;
};

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));

/**
 * A disk that keeps what was synced and, when it crashes, loses, keeps or tears the rest at random: each unsynced
 * write on its own, so that a later one may survive an earlier one, as real disks do. The seed replays it.
 */
export class SimDisk implements Disk {
  readonly #options: SimDiskOptions;
  #names = new Map<string, Inode>();
  #durableNames = new Map<string, Inode>();
  #life = 0;
  #failures: Error[] = [];
  syncCount = 0;

  constructor(options: SimDiskOptions) {
    this.#options = options;
  }

  /** The next sync fails, once for each call; what it should have kept stays unsynced. */
  failNextSync(error: Error = new Error('EIO: i/o error, fdatasync')): void {
    this.#failures.push(error);
  }

  /** Failures that were asked for and have not happened will not happen. */
  forgetFailures(): void {
    this.#failures = [];
  }

  /** Changes bytes behind everyone's back: what a bad sector or a stray write does. */
  corrupt(path: string, offset: number, flip = 0x01): void {
    const inode = this.#inode(path);
    for (const content of [inode.current, inode.durable])
      if (offset < content.byteLength) content[offset] = (content[offset] as number) ^ flip;
  }

  /** Puts other bytes in the place of a file's, durably and in no time. */
  replace(path: string, contents: Buffer): void {
    const inode = this.#inode(path);
    inode.changes = [];
    inode.current = Buffer.from(contents);
    inode.durable = Buffer.from(contents);
  }

  /** What reads see now. */
  contents(path: string): Buffer {
    return Buffer.from(this.#inode(path).current);
  }

  /** Open files are dead afterwards; open them again to see what is left. */
  crash(mode?: TearMode): void {
    this.#life += 1;
    const { random } = this.#options;
    this.#loseNames();
    for (const inode of new Set(this.#names.values())) {
      for (const change of inode.changes) {
        const fate = mode ?? (['lost', 'whole', 'prefix', 'sectors'] as const)[random.below(4)];
        for (const part of survivors(change, fate as TearMode, random))
          inode.durable = applied(inode.durable, part);
      }
      inode.changes = [];
      inode.current = Buffer.from(inode.durable);
    }
  }

  /** Names of a folder that was not synced are either all as they were or all as they are. */
  #loseNames(): void {
    const isKept = new Map<string, boolean>();
    const kept = (path: string): boolean => {
      const parent = parentOf(path);
      if (!isKept.has(parent)) isKept.set(parent, this.#options.random.below(2) === 0);
      return isKept.get(parent) as boolean;
    };
    const after = new Map<string, Inode>();
    for (const [path, inode] of this.#durableNames) if (!kept(path)) after.set(path, inode);
    for (const [path, inode] of this.#names) if (kept(path)) after.set(path, inode);
    this.#names = after;
    this.#durableNames = new Map(after);
  }

  #inode(path: string): Inode {
    const inode = this.#names.get(path);
    if (inode === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
    return inode;
  }

  async open(path: string, { create }: { readonly create: boolean }): Promise<DiskFile> {
    if (create && !this.#names.has(path)) this.#names.set(path, new Inode());
    return this.#file(this.#inode(path), this.#life);
  }

  async list(directory: string): Promise<string[]> {
    return [...this.#names.keys()]
      .filter((path) => parentOf(path) === directory)
      .map((path) => path.slice(directory.length + 1))
      .sort();
  }

  /** Folders are only parts of names here. */
  async makeDirectory(): Promise<void> {}

  async rename(from: string, to: string): Promise<void> {
    const inode = this.#inode(from);
    this.#names.delete(from);
    this.#names.set(to, inode);
  }

  async remove(path: string): Promise<void> {
    for (const name of [...this.#names.keys()])
      if (name === path || name.startsWith(`${path}/`)) this.#names.delete(name);
  }

  async syncDirectory(directory: string): Promise<void> {
    for (const path of [...this.#durableNames.keys()])
      if (parentOf(path) === directory && !this.#names.has(path)) this.#durableNames.delete(path);
    for (const [path, inode] of this.#names)
      if (parentOf(path) === directory) this.#durableNames.set(path, inode);
  }

  async #sync(inode: Inode, life: number): Promise<void> {
    const covered = [...inode.changes];
    const { clock, random, syncMsMax = 0 } = this.#options;
    if (clock !== undefined && syncMsMax > 0)
      await new Promise<void>((resolve) => clock.after(random.below(syncMsMax + 1), resolve));
    this.#assertAlive(life);
    const failure = this.#failures.shift();
    if (failure !== undefined) throw failure;
    this.syncCount += 1;
    inode.sync(covered);
  }

  #assertAlive(life: number): void {
    if (life !== this.#life) throw new Error('the machine of this file handle crashed');
  }

  #file(inode: Inode, life: number): DiskFile {
    const write = (offset: number, chunks: readonly Uint8Array[]): void => {
      this.#assertAlive(life);
      inode.change({ type: 'write', offset, bytes: Buffer.concat(chunks) });
    };
    return {
      size: async () => inode.current.byteLength,
      read: async (offset, length) => Buffer.from(inode.current.subarray(offset, offset + length)),
      write: async (offset, chunks) => write(offset, chunks),
      writeDurably: async (offset, chunks) => {
        write(offset, chunks);
        await this.#sync(inode, life);
      },
      allocate: async (length) => {
        this.#assertAlive(life);
        if (inode.current.byteLength < length) inode.change({ type: 'truncate', length });
      },
      truncate: async (length) => {
        this.#assertAlive(life);
        inode.change({ type: 'truncate', length });
      },
      sync: () => this.#sync(inode, life),
      close: async () => {},
    };
  }
}

/** What of an unsynced change reached the disk. */
const survivors = (change: Change, mode: TearMode, random: Random): Change[] => {
  if (mode === 'lost') return [];
  if (mode === 'whole' || change.type === 'truncate') return [change];
  const { offset, bytes } = change;
  if (mode === 'prefix')
    return [{ type: 'write', offset, bytes: bytes.subarray(0, random.below(bytes.byteLength + 1)) }];
  const parts: Change[] = [];
  for (let from = 0; from < bytes.byteLength;) {
    const to = Math.min(bytes.byteLength, from + SECTOR_BYTES - ((offset + from) % SECTOR_BYTES));
    if (random.below(2) === 0)
      parts.push({ type: 'write', offset: offset + from, bytes: bytes.subarray(from, to) });
    from = to;
  }
  return parts;
};
