import { chmod, open as openFile, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as Lmdb from 'lmdb';
import type { Database, RootDatabase, Transaction } from 'lmdb';
import { nodeDisk } from '../../../base/node/disk.ts';
import { restrict } from '../../../base/node/private-files.ts';
import { commitFailure, ensureSpace } from './commit-failure.ts';
import { BUCKETS, type BackendSize, type Bucket, type Entry } from './backend.ts';
import { BufferedBackend, type BufferedBackendOptions } from './buffered-backend.ts';
import type { Engine, EngineSnapshot, Write } from './engine.ts';

/** Required, not imported: as a CommonJS module it loads in half the time, and every start of a member waits for it. */
const { open } = createRequire(import.meta.url)('lmdb') as typeof Lmdb;

const FILE = /^db\.(\d+)\.lmdb$/;
const fileName = (generation: number): string => `db.${generation}.lmdb`;
const TEMPORARY = 'defragment.tmp';
/** Address space reserved for the map, not memory or disk; LMDB remaps larger files. */
const MAP_BYTES = 1024 * 1024 * 1024;

type Tree = Database<Buffer, Buffer>;

const copyOf = (source: Buffer, start: number, end: number): Buffer => {
  const copy = Buffer.allocUnsafe(end - start);
  copy.set(source.subarray(start, end));
  return copy;
};

/**
 * Bytes as they are. lmdb's own binary encoding does the same with a new ArrayBuffer for every key and value,
 * which costs more than the read; these come from Node's pool. What is given to `readKey` and `decode` is a
 * buffer that the next read overwrites. (The names are lmdb's, which its types leave out.)
 */
const ENCODING = {
  keyEncoder: {
    writeKey(key: Buffer, target: Buffer, start: number): number {
      target.set(key, start);
      return start + key.length;
    },
    readKey: copyOf,
  },
  encoder: {
    encode: (value: Buffer): Buffer => value,
    decode: (source: Buffer): Buffer => copyOf(source, 0, source.length),
  },
  encoding: 'binary',
  cache: false,
} as const;

interface Environment {
  readonly root: RootDatabase<Buffer, Buffer>;
  readonly trees: ReadonlyMap<Bucket, Tree>;
  readonly path: string;
}

/** For the file and its lock, whatever the process's umask; lmdb's own default is 0664. */
const FILE_MODE = 0o600;

const openEnvironment = (path: string, { isUnsafe }: { readonly isUnsafe: boolean }): Environment => {
  const root = open<Buffer, Buffer>({
    path,
    noSubdir: true,
    maxDbs: BUCKETS.length + 1,
    mapSize: MAP_BYTES,
    cache: false,
    // Classic commits: pages, fdatasync, meta page, fdatasync. The file is whole after any crash, power loss
    // included, and commits reach it in order. lmdb's overlapping mode would publish a commit before its sync.
    overlappingSync: false,
    noSync: isUnsafe,
    // One of lmdb's options that its types leave out.
    ...({ permissionsMode: FILE_MODE } as object),
  });
  const trees = new Map<Bucket, Tree>();
  // In one transaction: a new file would otherwise be synced twice for each bucket, which a first start waits for.
  root.transactionSync(() => {
    for (const bucket of BUCKETS)
      trees.set(bucket, root.openDB<Buffer, Buffer>({ name: bucket, ...ENCODING }));
  });
  return { root, trees, path };
};

const syncFile = async (path: string): Promise<void> => {
  const handle = await openFile(path, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/**
 * Committed state in an LMDB file. Writes run on lmdb's own thread, so a commit (tree pages and two syncs)
 * never holds up the event loop. A defragmented copy gets the next number in its name instead of replacing the
 * open file, which Windows would refuse; at start the highest number wins and the rest is removed.
 */
class LmdbEngine implements Engine {
  readonly #directory: string;
  readonly #settings: { readonly isUnsafe: boolean };
  #environment: Environment;
  #generation: number;
  /** What is read between two commits is read in one transaction: lmdb would set a timer for each. */
  #view: Transaction | undefined;

  constructor(directory: string, generation: number, settings: { readonly isUnsafe: boolean }) {
    this.#directory = directory;
    this.#settings = settings;
    this.#generation = generation;
    this.#environment = openEnvironment(join(directory, fileName(generation)), settings);
  }

  #tree(bucket: Bucket): Tree {
    return this.#environment.trees.get(bucket) as Tree;
  }

  get(bucket: Bucket, key: Uint8Array): Buffer | undefined {
    return this.#tree(bucket).get(key as Buffer, { transaction: this.#reading() });
  }

  range(bucket: Bucket, from: Uint8Array, to: Uint8Array | undefined, limit: number): Entry[] {
    return readRange(this.#tree(bucket), { from, to, limit }, this.#reading());
  }

  async commit(writes: readonly Write[]): Promise<void> {
    // One `batch` is one LMDB transaction: all of it is committed or none.
    const { root, trees, path } = this.#environment;
    let bytes = 0;
    for (const { value } of writes) bytes += value?.length ?? 0;
    await ensureSpace(path, bytes);
    try {
      await root.batch(() => {
        for (const { bucket, key, value } of writes) {
          const tree = trees.get(bucket) as Tree;
          if (value === undefined) void tree.remove(key);
          else void tree.put(key, value);
        }
      });
    } catch (error) {
      throw await commitFailure(error, path);
    }
    this.#endView();
  }

  #reading(): Transaction {
    return (this.#view ??= this.#environment.root.useReadTransaction());
  }

  #endView(): void {
    this.#view?.done();
    this.#view = undefined;
    this.#environment.root.resetReadTxn();
  }

  snapshot(): EngineSnapshot {
    const { root, trees } = this.#environment;
    root.resetReadTxn();
    const transaction = root.useReadTransaction();
    let isOpen = true;
    return {
      get: (bucket, key) => (trees.get(bucket) as Tree).get(key as Buffer, { transaction }),
      range: (bucket, from, to, limit) =>
        readRange(trees.get(bucket) as Tree, { from, to, limit }, transaction),
      dispose() {
        if (isOpen) transaction.done();
        isOpen = false;
      },
    };
  }

  async defragment(): Promise<void> {
    const temporary = join(this.#directory, TEMPORARY);
    await rm(temporary, { force: true });
    await this.#environment.root.backup(temporary, true);
    await chmod(temporary, FILE_MODE);
    await syncFile(temporary);
    const next = join(this.#directory, fileName(this.#generation + 1));
    await rename(temporary, next);
    await nodeDisk.syncDirectory(this.#directory);
    this.#endView();
    const old = this.#environment;
    this.#environment = openEnvironment(next, this.#settings);
    this.#generation += 1;
    await old.root.close();
    await removeFile(old.path);
    await nodeDisk.syncDirectory(this.#directory);
  }

  size(): BackendSize {
    const measure = (): number => this.#inUseBytes();
    let inUseBytes: number | undefined;
    return {
      totalBytes: statSync(this.#environment.path).size,
      // Every tree is asked for this: only when somebody wants to know, not at every commit.
      get inUseBytes() {
        return (inUseBytes ??= measure());
      },
    };
  }

  #inUseBytes(): number {
    let pages = META_PAGES;
    let pageBytes = 0;
    for (const tree of this.#environment.trees.values()) {
      const stats = tree.getStats() as TreeStats;
      pageBytes = stats.pageSize;
      pages += stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages;
    }
    return pages * pageBytes;
  }

  async close(): Promise<void> {
    this.#endView();
    await this.#environment.root.close();
  }
}

const META_PAGES = 2;

interface TreeStats {
  readonly pageSize: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

const readRange = (
  tree: Tree,
  { from, to, limit }: { from: Uint8Array; to: Uint8Array | undefined; limit: number },
  transaction: Transaction,
): Entry[] => {
  if (limit <= 0) return [];
  const range = tree.getRange({
    start: from as Buffer,
    ...(to === undefined ? {} : { end: to as Buffer }),
    limit,
    transaction,
  });
  return [...range].map(({ key, value }) => ({ key, value }));
};

const removeFile = async (path: string): Promise<void> => {
  await rm(path, { force: true });
  await rm(`${path}-lock`, { force: true });
};

/** Opens (or makes) the database in `directory`; left-overs of an interrupted defragmentation are removed. */
export const openLmdbBackend = async (
  directory: string,
  options: BufferedBackendOptions,
): Promise<BufferedBackend> => {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const names = await readdir(directory);
  const generations = names.flatMap((name) => FILE.exec(name)?.[1] ?? []).map(Number);
  const generation = generations.length === 0 ? 1 : Math.max(...generations);
  for (const old of generations) if (old !== generation) await removeFile(join(directory, fileName(old)));
  await removeFile(join(directory, TEMPORARY));
  await restrict(directory);
  return new BufferedBackend(
    new LmdbEngine(directory, generation, { isUnsafe: options.isUnsafe ?? false }),
    options,
  );
};
