import { failure, malformed } from '../failure.ts';
import type { RandomAccess } from '../random-access.ts';
import { BUCKET_HEADER_BYTES, PAGE_HEADER_BYTES, compareBytes, readU64 } from './format.ts';
import type { Meta } from './meta.ts';
import { openPageStore, type PageStore } from './page-store.ts';
import { parseTreePage, type BranchPage, type LeafElement, type LeafPage } from './page.ts';

/** A tree of 4 KiB pages with 32 levels would not fit on any disk: deeper means that pages form a loop. */
const TREE_DEPTH_MAX = 32;

export interface KeyValue {
  readonly key: Buffer;
  readonly value: Buffer;
}

export interface BoltBucket {
  /** Page id of the root, or the page itself for an inline bucket. */
  readonly root: number | LeafPage;
  readonly sequence: number;
  /** Leaf pages in key order, a page's elements immediately: the fast way through a bucket. */
  leaves(onPage?: (id: number, bytes: Uint8Array) => void): AsyncGenerator<readonly LeafElement[]>;
  /** Keys with values in key order; nested buckets are left out. */
  entries(): AsyncGenerator<KeyValue>;
  /** Names of nested buckets in key order. */
  bucketNames(): AsyncGenerator<Buffer>;
  get(key: Uint8Array): Promise<Buffer | undefined>;
  bucket(name: Uint8Array): Promise<BoltBucket | undefined>;
}

export interface BoltReader {
  readonly meta: Meta;
  readonly pages: PageStore;
  /** The bucket that holds all others; bbolt keeps no plain keys in it. */
  readonly root: BoltBucket;
}

interface Range {
  readonly from: Uint8Array | undefined;
  readonly before: Uint8Array | undefined;
}

const inRange = (key: Uint8Array, { from, before }: Range): boolean =>
  (from === undefined || compareBytes(key, from) >= 0) &&
  (before === undefined || compareBytes(key, before) < 0);

/**
 * The parent says which keys a child may hold. Holding children to it keeps iteration in order, and bounds it
 * on a broken file: the way to a branch page is given by its first key, so none is walked twice.
 */
const assertInRange = (page: BranchPage | LeafPage, range: Range): void => {
  const first = page.elements[0];
  const last = page.elements.at(-1);
  if (first === undefined || last === undefined) return;
  if (!inRange(first.key, range) || !inRange(last.key, range)) {
    throw malformed(page.where, 'holds keys outside of the range that its parent page gives it');
  }
};

/** Index of the last element whose key is not after `key`; 0 when all are. */
const childIndexFor = (page: BranchPage, key: Uint8Array): number => {
  let low = 0;
  let high = page.elements.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBytes(page.elements[middle]!.key, key) <= 0) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
};

const findInLeaf = (page: LeafPage, key: Uint8Array): LeafElement | undefined => {
  let low = 0;
  let high = page.elements.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const order = compareBytes(page.elements[middle]!.key, key);
    if (order === 0) return page.elements[middle];
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return undefined;
};

const tooDeep = (where: string) =>
  malformed(where, `the tree is deeper than ${TREE_DEPTH_MAX} levels; its pages form a loop`);

const bucketOver = (pages: PageStore, root: number | LeafPage, sequence: number): BoltBucket => {
  const load = async (id: number, from: string): Promise<{ page: BranchPage | LeafPage; bytes: Buffer }> => {
    const bytes = await pages.page(id, from);
    return { page: parseTreePage(bytes, `page ${id}`), bytes };
  };

  async function* leaves(
    onPage?: (id: number, bytes: Uint8Array) => void,
  ): AsyncGenerator<readonly LeafElement[]> {
    if (typeof root !== 'number') {
      yield root.elements;
      return;
    }
    const path: { readonly page: BranchPage; readonly range: Range; next: number }[] = [];
    let visit: { id: number; range: Range; from: string } | undefined = {
      id: root,
      range: { from: undefined, before: undefined },
      from: 'bucket',
    };
    while (visit !== undefined) {
      const { page, bytes } = await load(visit.id, visit.from);
      assertInRange(page, visit.range);
      onPage?.(visit.id, bytes);
      if (page.kind === 'leaf') yield page.elements;
      else {
        if (path.length >= TREE_DEPTH_MAX) throw tooDeep(page.where);
        path.push({ page, range: visit.range, next: 0 });
      }
      visit = undefined;
      while (path.length > 0 && visit === undefined) {
        const top = path.at(-1)!;
        const element = top.page.elements[top.next];
        if (element === undefined) path.pop();
        else {
          top.next += 1;
          const before = top.page.elements[top.next]?.key ?? top.range.before;
          visit = { id: element.child, range: { from: element.key, before }, from: top.page.where };
        }
      }
    }
  }

  const find = async (key: Uint8Array): Promise<LeafElement | undefined> => {
    if (typeof root !== 'number') return findInLeaf(root, key);
    let id = root;
    let from = 'bucket';
    for (let depth = 0; depth <= TREE_DEPTH_MAX; depth += 1) {
      const { page } = await load(id, from);
      if (page.kind === 'leaf') return findInLeaf(page, key);
      id = page.elements[childIndexFor(page, key)]!.child;
      from = page.where;
    }
    throw tooDeep(from);
  };

  return {
    root,
    sequence,
    leaves,
    async *entries() {
      for await (const elements of leaves()) {
        for (const { key, value, isBucket } of elements) if (!isBucket) yield { key, value };
      }
    },
    async *bucketNames() {
      for await (const elements of leaves()) {
        for (const { key, isBucket } of elements) if (isBucket) yield key;
      }
    },
    async get(key) {
      const element = await find(key);
      return element === undefined || element.isBucket ? undefined : element.value;
    },
    async bucket(name) {
      const element = await find(name);
      return element?.isBucket === true ? openBucket(pages, element) : undefined;
    },
  };
};

const printable = (bytes: Buffer): string => JSON.stringify(bytes.toString('latin1'));

/** A bucket from the leaf element that names it. */
export const openBucket = (pages: PageStore, element: LeafElement): BoltBucket => {
  const where = `bucket ${printable(element.key)}`;
  const { value } = element;
  if (value.length < BUCKET_HEADER_BYTES) {
    throw malformed(where, `its header has ${value.length} of ${BUCKET_HEADER_BYTES} bytes`);
  }
  const rootId = readU64(value, 0);
  const sequence = readU64(value, 8);
  if (rootId !== 0) return bucketOver(pages, rootId, sequence);
  const inline = value.subarray(BUCKET_HEADER_BYTES);
  if (inline.length < PAGE_HEADER_BYTES) throw malformed(where, 'its inline page has no header');
  const page = parseTreePage(inline, `inline page of ${where}`);
  if (page.kind !== 'leaf') throw malformed(where, 'its inline page is not a leaf');
  return bucketOver(pages, page, sequence);
};

/** Opens a database for reading. It holds no resource: anyone who opened `file` closes it when done reading. */
export const openBolt = async (file: RandomAccess): Promise<BoltReader> => {
  const pages = await openPageStore(file);
  return { meta: pages.meta, pages, root: bucketOver(pages, pages.meta.rootPage, 0) };
};

/** As `root.bucket(name)`, for a bucket that has to be there. */
export const requireBucket = async (bolt: BoltReader, name: string): Promise<BoltBucket> => {
  const bucket = await bolt.root.bucket(Buffer.from(name));
  if (bucket === undefined)
    throw failure('NoSuchBucket', `the database has no bucket ${JSON.stringify(name)}`);
  return bucket;
};
