import type { FileHandle } from 'node:fs/promises';

/** Of a page, LMDB's data format 2: number u64, transaction u64, pad u16, flags u16, lower u16, upper u16. */
const PAGE = { flags: 18, lower: 20, upper: 22, overflowCount: 20, head: 24 } as const;
const FLAG = { branch: 1, leaf: 2, overflow: 4 } as const;
/** Of a node: low and high part of the size or page, flags u16, size of the key u16, key, data. */
const NODE = { flags: 4, keyBytes: 6, head: 8 } as const;
const NODE_FLAG = { overflow: 1, tree: 2, duplicates: 4 } as const;
/** Of a tree: pad u32, flags u16, depth u16, four counters, root u64. */
const TREE = { depth: 6, root: 40, bytes: 48 } as const;
const OVERFLOW_BYTES = 24;
/** LMDB's CURSOR_STACK: a deeper tree cannot be read. */
const DEPTH_MAX = 32;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;
/** Read at a time: small enough to let others run in between. */
const CHUNK_BYTES = 1024 * 1024;

/** As a meta page has it. */
export interface PageMeta {
  readonly pageBytes: number;
  readonly lastPage: number;
  /** The two trees of every file: free pages, and the named trees. */
  readonly trees: Buffer;
}

class Damage extends Error {}
const check = (isSound: boolean, what: string): void => {
  if (!isSound) throw new Damage(what);
};

interface Visit {
  readonly page: number;
  /** Levels from here to the leaves, this one included. */
  readonly depth: number;
  readonly isFreeList: boolean;
}

/** As one number that sorts by page: a large database has millions of them. */
const VISIT_PAGE = 128;
const packed = ({ page, depth, isFreeList }: Visit): number =>
  page * VISIT_PAGE + depth * 2 + (isFreeList ? 1 : 0);
const unpacked = (visit: number): Visit => ({
  page: Math.floor(visit / VISIT_PAGE),
  depth: Math.floor((visit % VISIT_PAGE) / 2),
  isFreeList: visit % 2 === 1,
});

/** A value that has pages of its own. */
interface LargeValue {
  readonly page: number;
  readonly count: number;
  readonly bytes: number;
  readonly isFreeList: boolean;
}
/** Looked at together, so that the file is read in its order. */
const LARGE_VALUES_MAX = 65_536;

/**
 * Follows every tree of a file and looks whether LMDB could: it trusts numbers in pages and would read, or write, wherever
 * they point, which ends the process. What keys and values say is not its business. Undefined: sound.
 */
export const findPageDamage = async (file: FileHandle, meta: PageMeta): Promise<string | undefined> => {
  const pages = new Pages(file, meta);
  try {
    await pages.follow();
    return undefined;
  } catch (error) {
    if (error instanceof Damage) return error.message;
    throw error;
  }
};

class Pages {
  readonly #file: FileHandle;
  readonly #meta: PageMeta;
  readonly #seen: Uint8Array;
  #open: number[] = [];
  #large: LargeValue[] = [];
  #chunk = Buffer.alloc(0);
  #chunkFrom = -1;

  constructor(file: FileHandle, meta: PageMeta) {
    this.#file = file;
    this.#meta = meta;
    this.#seen = new Uint8Array(meta.lastPage + 1);
  }

  async follow(): Promise<void> {
    this.#tree(this.#meta.trees, 0, true);
    this.#tree(this.#meta.trees, TREE.bytes, false);
    // Level by level in the order of the file: neighbours of a tree are seldom neighbours in it.
    while (this.#open.length > 0) {
      const level = Float64Array.from(this.#open).sort();
      this.#open = [];
      for (const visit of level) await this.#visit(unpacked(visit));
      await this.#checkLarge();
    }
  }

  #tree(bytes: Buffer, at: number, isFreeList: boolean): void {
    const root = bytes.readBigUInt64LE(at + TREE.root);
    if (root === NO_PAGE) return;
    const depth = bytes.readUInt16LE(at + TREE.depth);
    check(depth >= 1 && depth <= DEPTH_MAX, `a tree of ${depth} levels`);
    this.#open.push(packed({ page: this.#page(root), depth, isFreeList }));
  }

  #page(number: bigint): number {
    check(number > 1n && number <= BigInt(this.#meta.lastPage), `page ${number} does not exist`);
    return Number(number);
  }

  #mark(page: number): void {
    check(this.#seen[page] === 0, `page ${page} is used twice`);
    this.#seen[page] = 1;
  }

  /** A view that the next read overwrites. */
  async #read(page: number): Promise<Buffer> {
    const { pageBytes } = this.#meta;
    const perChunk = CHUNK_BYTES / pageBytes;
    const from = page - (page % perChunk);
    if (from !== this.#chunkFrom) {
      if (this.#chunk.length === 0) this.#chunk = Buffer.alloc(CHUNK_BYTES);
      const { bytesRead } = await this.#file.read(this.#chunk, 0, CHUNK_BYTES, from * pageBytes);
      this.#chunk.fill(0, bytesRead);
      this.#chunkFrom = from;
    }
    const at = (page - from) * pageBytes;
    return this.#chunk.subarray(at, at + pageBytes);
  }

  async #visit({ page, depth, isFreeList }: Visit): Promise<void> {
    this.#mark(page);
    const bytes = await this.#read(page);
    check(bytes.readBigUInt64LE(0) === BigInt(page), `page ${page} says that it is another one`);
    const isLeaf = depth === 1;
    const kind = bytes.readUInt16LE(PAGE.flags) & (FLAG.branch | FLAG.leaf | FLAG.overflow);
    check(kind === (isLeaf ? FLAG.leaf : FLAG.branch), `page ${page} is of another kind`);
    const room = this.#meta.pageBytes - PAGE.head;
    const lower = bytes.readUInt16LE(PAGE.lower);
    const upper = bytes.readUInt16LE(PAGE.upper);
    check(
      lower % 2 === 0 && lower <= upper && upper <= room,
      `page ${page} has bounds ${lower} and ${upper}`,
    );
    check(isLeaf || lower >= 4, `page ${page} has fewer than two branches`);
    for (let i = 0; i < lower; i += 2) {
      const at = bytes.readUInt16LE(PAGE.head + i);
      check(at >= upper && at + NODE.head <= room, `page ${page} has a node at ${at}`);
      const node = bytes.subarray(PAGE.head + at);
      if (isLeaf) this.#leafNode(page, node, isFreeList);
      else this.#branchNode(page, node, { depth: depth - 1, isFreeList });
    }
    if (this.#large.length >= LARGE_VALUES_MAX) await this.#checkLarge();
  }

  #branchNode(
    page: number,
    node: Buffer,
    below: { readonly depth: number; readonly isFreeList: boolean },
  ): void {
    check(
      NODE.head + node.readUInt16LE(NODE.keyBytes) <= node.length,
      `page ${page} has a key that is cut off`,
    );
    // The flags are the upper part of the page's number.
    const child = BigInt(node.readUInt32LE(0)) | (BigInt(node.readUInt16LE(NODE.flags)) << 32n);
    this.#open.push(packed({ page: this.#page(child), ...below }));
  }

  #leafNode(page: number, node: Buffer, isFreeList: boolean): void {
    const flags = node.readUInt16LE(NODE.flags);
    const from = NODE.head + node.readUInt16LE(NODE.keyBytes);
    const bytes = node.readUInt32LE(0);
    check((flags & ~(NODE_FLAG.overflow | NODE_FLAG.tree)) === 0, `page ${page} has a node of another kind`);
    const isLarge = (flags & NODE_FLAG.overflow) !== 0;
    const end = from + (isLarge ? OVERFLOW_BYTES : bytes);
    check(end <= node.length, `page ${page} has a value that is cut off`);
    if (isLarge) {
      const first = this.#page(node.readBigUInt64LE(from));
      const count = Number(node.readBigUInt64LE(from + 16));
      const isEnough = Math.ceil((PAGE.head + bytes) / this.#meta.pageBytes) <= count;
      check(isEnough && first + count - 1 <= this.#meta.lastPage, `page ${page} has a value beyond the file`);
      this.#large.push({ page: first, count, bytes, isFreeList });
    } else if ((flags & NODE_FLAG.tree) !== 0) {
      check(bytes === TREE.bytes && !isFreeList, `page ${page} has a tree of ${bytes} bytes`);
      this.#tree(node, from, false);
    } else if (isFreeList) this.#freeList(page, node.subarray(from, end));
  }

  async #checkLarge(): Promise<void> {
    const values = this.#large.sort((a, b) => a.page - b.page);
    this.#large = [];
    for (const value of values) await this.#largeValue(value);
  }

  async #largeValue({ page, count, bytes, isFreeList }: LargeValue): Promise<void> {
    const head = await this.#read(page);
    check(
      head.readBigUInt64LE(0) === BigInt(page) &&
        (head.readUInt16LE(PAGE.flags) & FLAG.overflow) !== 0 &&
        head.readUInt32LE(PAGE.overflowCount) === count,
      `page ${page} does not begin a large value`,
    );
    for (let i = 0; i < count; i += 1) this.#mark(page + i);
    if (!isFreeList) return;
    const list = Buffer.alloc(bytes);
    await this.#file.read(list, 0, bytes, page * this.#meta.pageBytes + PAGE.head);
    this.#freeList(page, list);
  }

  /** Their count, then page numbers; a negative one says how many pages follow. */
  #freeList(page: number, list: Buffer): void {
    check(list.length >= 8, `page ${page} has a list of free pages that is cut off`);
    const count = Number(list.readBigUInt64LE(0));
    check((count + 1) * 8 <= list.length, `page ${page} lists ${count} free pages`);
    const last = BigInt(this.#meta.lastPage);
    for (let i = 1; i <= count; i += 1) {
      const free = list.readBigInt64LE(i * 8);
      check(free >= -last && free <= last, `page ${page} lists page ${free} as free`);
    }
  }
}
