import { memoryFile, type RandomAccess } from '../random-access.ts';
import { PAGE_BYTES, writePageHeader, writeU64 } from './format.ts';
import { leafBuffer } from './leaf-buffer.ts';
import { writeMetaPage, type Meta } from './meta.ts';
import { branchContent, type PageContent } from './page-sink.ts';
import { planBolt, streamBolt, type BoltEntry } from './writer.ts';

export const bytes = (text: string): Uint8Array => Buffer.from(text);
export const text = (value: Uint8Array | undefined): string | undefined =>
  value === undefined ? undefined : Buffer.from(value).toString();

export const entry = (bucket: string, key: string, value = ''): BoltEntry => ({
  bucket,
  key: bytes(key),
  value: bytes(value),
});

export const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
};

export const buildBolt = async (
  entries: readonly BoltEntry[],
  buckets: readonly string[] = [],
): Promise<Buffer> => {
  const plan = await planBolt(entries, { buckets });
  return Buffer.concat(await collect(streamBolt(entries, plan, { buckets })));
};

export interface LeafRow {
  readonly key: string;
  readonly value: Uint8Array | string;
  readonly flags?: number;
}

export const leaf = (...rows: readonly LeafRow[]): PageContent => {
  const page = leafBuffer();
  for (const { key, value, flags = 0 } of rows)
    page.add({ flags, key: bytes(key), value: Buffer.from(value) });
  return page;
};

export const branch = (...rows: readonly (readonly [key: string, child: number])[]): PageContent =>
  branchContent(rows.map(([key, child]) => ({ key: bytes(key), child })));

export const freelist = (ids: readonly number[], count = ids.length): PageContent => ({
  count,
  byteLength: 16 + ids.length * 8,
  encodeInto(page) {
    writePageHeader(page, { id: 0, flags: 0x10, count, overflow: 0 });
    ids.forEach((id, index) => writeU64(page, 16 + index * 8, id));
  },
});

export const bucketValue = (rootPage: number, sequence = 0): Uint8Array => {
  const value = new Uint8Array(16);
  writeU64(value, 0, rootPage);
  writeU64(value, 8, sequence);
  return value;
};

/** A database laid out by hand: pages from 2 on, so that a test can write what no bbolt would. */
export const handmade = (
  pages: readonly PageContent[],
  meta: Partial<Meta> = {},
  pageBytes = PAGE_BYTES,
): Buffer => {
  const file = Buffer.alloc((2 + pages.length) * pageBytes);
  const whole: Meta = {
    pageBytes,
    rootPage: 3,
    freelistPage: 2,
    pageCount: 2 + pages.length,
    txid: 2,
    ...meta,
  };
  writeMetaPage(file.subarray(0, pageBytes), 0, whole);
  writeMetaPage(file.subarray(pageBytes), 1, { ...whole, txid: whole.txid - 1 });
  pages.forEach((content, index) => {
    const page = file.subarray((index + 2) * pageBytes);
    content.encodeInto(page);
    writeU64(page, 0, index + 2);
  });
  return file;
};

/** Records the most that one read asked for, to show that the whole file is never wanted immediately. */
export const meteredFile = (
  content: Uint8Array,
): RandomAccess & { readonly largestReadBytes: () => number } => {
  const inner = memoryFile(content);
  let largest = 0;
  return {
    size: () => inner.size(),
    read(offset, length) {
      largest = Math.max(largest, length);
      return inner.read(offset, length);
    },
    largestReadBytes: () => largest,
  };
};
