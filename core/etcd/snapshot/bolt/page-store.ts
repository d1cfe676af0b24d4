import { failure, malformed } from '../failure.ts';
import type { RandomAccess } from '../random-access.ts';
import { PAGE_BYTES_MIN, PAGE_HEADER_BYTES, readU64 } from './format.ts';
import { META_PAGE_BYTES_MIN, parseMeta, validateMeta, type Meta } from './meta.ts';
import { overflowOf } from './page.ts';

/** Pages come from the file in blocks of this size: enough for a lookup, little enough to be wasted. */
const BLOCK_BYTES_MIN = 16 * 1024;
/** While blocks are wanted one after the other, each read takes twice as many, up to this. */
const READ_AHEAD_BYTES_MAX = 256 * 1024;
const CACHE_BYTES_MAX = 4 * 1024 * 1024;
const CACHE_BLOCKS_MIN = 2;
/** bbolt tries page sizes of 1 KiB to 16 MiB when its first meta page is torn. */
const PAGE_SIZE_GUESSES = 15;
/** One page with its overflow is read whole. Far above any etcd value and any real freelist. */
const PAGE_RUN_BYTES_MAX = 512 * 1024 * 1024;

export interface PageStore {
  readonly meta: Meta;
  /** The page with its overflow pages, its id and extent checked. Views stay valid; they are never reused. */
  page(id: number, wantedBy: string): Promise<Buffer>;
}

const firstMetas = async (file: RandomAccess, fileBytes: number): Promise<Meta> => {
  const first = parseMeta(await file.read(0, META_PAGE_BYTES_MIN));
  const faults: string[] = [];
  const found: Meta[] = [];
  if (typeof first === 'string') faults.push(`meta page 0: ${first}`);
  else {
    validateMeta(first);
    found.push(first);
  }
  const guesses =
    typeof first === 'string'
      ? Array.from({ length: PAGE_SIZE_GUESSES }, (_, shift) => PAGE_BYTES_MIN << shift)
      : [first.pageBytes];
  for (const offset of guesses) {
    if (offset >= fileBytes) break;
    const second = parseMeta(await file.read(offset, META_PAGE_BYTES_MIN));
    if (typeof second === 'string') continue;
    validateMeta(second);
    if (second.pageBytes !== offset)
      throw malformed('meta page 1', `page size ${second.pageBytes} at byte ${offset}`);
    found.push(second);
    break;
  }
  const newest = found.sort((a, b) => b.txid - a.txid)[0];
  if (newest !== undefined) return newest;
  throw failure('NotADatabase', `not a bbolt database: ${faults.join(', ')}, and no valid meta page 1`);
};

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Picks the newest valid meta page and serves pages by id with a bounded cache. */
export const openPageStore = async (file: RandomAccess): Promise<PageStore> => {
  const fileBytes = await file.size();
  const meta = await firstMetas(file, fileBytes);
  const { pageBytes, pageCount } = meta;
  if (pageCount * pageBytes > fileBytes) {
    throw failure(
      'Truncated',
      `the database has ${pageCount} pages of ${pageBytes} bytes, the file only ${fileBytes} bytes; it was cut off`,
    );
  }
  const blockBytes = Math.max(BLOCK_BYTES_MIN, pageBytes);
  const blocksMax = Math.max(CACHE_BLOCKS_MIN, Math.floor(CACHE_BYTES_MAX / blockBytes));
  const readAheadBlocksMax = Math.max(1, Math.floor(READ_AHEAD_BYTES_MAX / blockBytes));
  const blocks = new Map<number, Buffer>();

  const readExactly = async (offset: number, length: number): Promise<Buffer> => {
    const bytes = await file.read(offset, length);
    if (bytes.length === length) return asBuffer(bytes);
    throw failure(
      'Truncated',
      `the file ends at byte ${offset + bytes.length}, ${length} were expected at ${offset}`,
    );
  };

  const remember = (index: number, bytes: Buffer): void => {
    blocks.set(index, bytes);
    if (blocks.size <= blocksMax) return;
    const oldest = blocks.keys().next();
    if (!oldest.done) blocks.delete(oldest.value);
  };

  let readAheadBlocks = 1;
  let expectedIndex = -1;

  const block = async (index: number): Promise<Buffer> => {
    const cached = blocks.get(index);
    if (cached !== undefined) {
      blocks.delete(index);
      blocks.set(index, cached);
      return cached;
    }
    readAheadBlocks = index === expectedIndex ? Math.min(readAheadBlocks * 2, readAheadBlocksMax) : 1;
    expectedIndex = index + readAheadBlocks;
    const offset = index * blockBytes;
    const length = Math.min(readAheadBlocks * blockBytes, pageCount * pageBytes - offset);
    const run = await readExactly(offset, length);
    for (let at = 0; at < length; at += blockBytes)
      remember(index + at / blockBytes, run.subarray(at, at + blockBytes));
    return run.subarray(0, blockBytes);
  };

  return {
    meta,
    async page(id, wantedBy) {
      if (id < 2 || id >= pageCount) {
        throw malformed(wantedBy, `refers to page ${id}, outside of the pages 2 to ${pageCount - 1}`);
      }
      const offset = id * pageBytes;
      const index = Math.floor(offset / blockBytes);
      const within = offset - index * blockBytes;
      const bytes = await block(index);
      const header = bytes.subarray(within, within + PAGE_HEADER_BYTES);
      const selfId = readU64(header, 0);
      if (selfId !== id) throw malformed(`page ${id}`, `calls itself page ${selfId}`);
      const run = 1 + overflowOf(header);
      if (id + run > pageCount) throw malformed(`page ${id}`, `its ${run - 1} overflow pages pass the end`);
      const length = run * pageBytes;
      if (length > PAGE_RUN_BYTES_MAX) {
        throw malformed(`page ${id}`, `${length} bytes are more than the ${PAGE_RUN_BYTES_MAX} allowed`);
      }
      if (within + length <= bytes.length) return bytes.subarray(within, within + length);
      return readExactly(offset, length);
    },
  };
};
