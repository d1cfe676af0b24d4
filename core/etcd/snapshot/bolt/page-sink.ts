import {
  BRANCH_FLAG,
  FREELIST_FLAG,
  LEAF_ELEMENT_BYTES,
  PAGE_BYTES,
  PAGE_HEADER_BYTES,
  writePageHeader,
  writeU32,
  writeU64,
} from './format.ts';
import { writeMetaPage } from './meta.ts';

/** Elements of one page to come. Both kinds of elements are 16 bytes, and so is the header. */
export interface PageContent {
  readonly count: number;
  readonly byteLength: number;
  encodeInto(page: Uint8Array): void;
}

/** Takes finished pages in file order and says which id each one got. */
export interface PageSink {
  readonly nextPage: number;
  write(content: PageContent): number;
}

export const FREELIST_PAGE = 2;
export const FIRST_TREE_PAGE = 3;

const pagesFor = (byteLength: number): number => Math.ceil(byteLength / PAGE_BYTES);

/** Only counts: what the first of two passes needs to know the root page and the size of the file. */
export const countingSink = (): PageSink => {
  let nextPage = FIRST_TREE_PAGE;
  return {
    get nextPage() {
      return nextPage;
    },
    write(content) {
      const id = nextPage;
      nextPage += pagesFor(content.byteLength);
      return id;
    },
  };
};

export interface ChunkSink extends PageSink {
  readonly hasChunks: boolean;
  /** Finished chunks since the last call; the caller owns them, they are never reused. */
  takeChunks(): Uint8Array[];
  /** The last, shorter chunk. */
  takeRest(): Uint8Array[];
}

/** Encodes pages into chunks of about `chunkBytes`; a page larger than that gets a chunk of its own. */
export const chunkSink = (chunkBytes: number): ChunkSink => {
  let nextPage = FIRST_TREE_PAGE;
  let chunk = Buffer.alloc(chunkBytes);
  let used = 0;
  let finished: Uint8Array[] = [];

  const closeChunk = (): void => {
    if (used > 0) finished.push(chunk.subarray(0, used));
    used = 0;
  };

  return {
    get nextPage() {
      return nextPage;
    },
    write(content) {
      const id = nextPage;
      const pageCount = pagesFor(content.byteLength);
      const length = pageCount * PAGE_BYTES;
      if (used + length > chunk.length) {
        closeChunk();
        chunk = Buffer.alloc(Math.max(chunkBytes, length));
      }
      const page = chunk.subarray(used, used + length);
      content.encodeInto(page);
      writeU64(page, 0, id);
      writeU32(page, 12, pageCount - 1);
      used += length;
      nextPage += pageCount;
      return id;
    },
    get hasChunks() {
      return finished.length > 0;
    },
    takeChunks() {
      const taken = finished;
      finished = [];
      return taken;
    },
    takeRest() {
      closeChunk();
      chunk = Buffer.alloc(0);
      return this.takeChunks();
    },
  };
};

/** Pages 0 to 2: two meta pages as a hot copy of bbolt has them (the older one second), and an empty freelist. */
export const encodeHead = (tree: { readonly rootPage: number; readonly pageCount: number }): Uint8Array => {
  const head = Buffer.alloc(FIRST_TREE_PAGE * PAGE_BYTES);
  const meta = { ...tree, pageBytes: PAGE_BYTES, freelistPage: FREELIST_PAGE };
  // bbolt writes transaction n to meta page n mod 2, so the even one belongs into page 0.
  writeMetaPage(head.subarray(0, PAGE_BYTES), 0, { ...meta, txid: 2 });
  writeMetaPage(head.subarray(PAGE_BYTES, 2 * PAGE_BYTES), 1, { ...meta, txid: 1 });
  writePageHeader(head.subarray(FREELIST_PAGE * PAGE_BYTES), {
    id: FREELIST_PAGE,
    flags: FREELIST_FLAG,
    count: 0,
    overflow: 0,
  });
  return head;
};

export interface BranchItem {
  readonly key: Uint8Array;
  readonly child: number;
}

export const branchContent = (items: readonly BranchItem[]): PageContent => ({
  count: items.length,
  byteLength: branchBytes(items),
  encodeInto(page) {
    writePageHeader(page, { id: 0, flags: BRANCH_FLAG, count: items.length, overflow: 0 });
    let dataAt = PAGE_HEADER_BYTES + items.length * LEAF_ELEMENT_BYTES;
    items.forEach(({ key, child }, index) => {
      const at = PAGE_HEADER_BYTES + index * LEAF_ELEMENT_BYTES;
      writeU32(page, at, dataAt - at);
      writeU32(page, at + 4, key.length);
      writeU64(page, at + 8, child);
      page.set(key, dataAt);
      dataAt += key.length;
    });
  },
});

export const branchBytes = (items: readonly BranchItem[]): number =>
  items.reduce((bytes, { key }) => bytes + LEAF_ELEMENT_BYTES + key.length, PAGE_HEADER_BYTES);
