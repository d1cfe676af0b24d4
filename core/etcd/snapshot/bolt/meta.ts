import { malformed } from '../failure.ts';
import {
  META_FLAG,
  PAGE_BYTES_MAX,
  PAGE_BYTES_MIN,
  PAGE_HEADER_BYTES,
  readU32,
  readU64,
  writePageHeader,
  writeU32,
  writeU64,
} from './format.ts';

const MAGIC = 0xed0cdaed;
const VERSION = 2;
const CHECKSUM_AT = 56;
const META_BYTES = 64;
const U32_MAX = 0xffffffff;

export const META_PAGE_BYTES_MIN = PAGE_HEADER_BYTES + META_BYTES;

export interface Meta {
  readonly pageBytes: number;
  readonly rootPage: number;
  /** Absent when the database was opened with NoFreelistSync. */
  readonly freelistPage: number | undefined;
  /** Every page id in use is below this. */
  readonly pageCount: number;
  readonly txid: number;
}

const FNV_OFFSET = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;

export const fnv1a64 = (bytes: Uint8Array): bigint => {
  let hash = FNV_OFFSET;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * FNV_PRIME);
  return hash;
};

const bigU64 = (bytes: Uint8Array, at: number): bigint =>
  BigInt(readU32(bytes, at)) | (BigInt(readU32(bytes, at + 4)) << 32n);

/** The meta in a page, or why it is none. Bytes decide alone: a torn meta page is normal after a crash. */
export const parseMeta = (page: Uint8Array): Meta | string => {
  if (page.length < META_PAGE_BYTES_MIN) return 'the file ends inside of it';
  const meta = page.subarray(PAGE_HEADER_BYTES, META_PAGE_BYTES_MIN);
  if (readU32(meta, 0) !== MAGIC) return 'its magic number is not that of bbolt';
  const version = readU32(meta, 4);
  if (version !== VERSION) return `its file format version is ${version}, not ${VERSION}`;
  if (bigU64(meta, CHECKSUM_AT) !== fnv1a64(meta.subarray(0, CHECKSUM_AT))) return 'its checksum is wrong';
  const noFreelist = readU32(meta, 32) === U32_MAX && readU32(meta, 36) === U32_MAX;
  return {
    pageBytes: readU32(meta, 8),
    rootPage: readU64(meta, 16),
    freelistPage: noFreelist ? undefined : readU64(meta, 32),
    pageCount: readU64(meta, 40),
    txid: readU64(meta, 48),
  };
};

const isPowerOfTwo = (value: number): boolean => Number.isInteger(Math.log2(value));

/** A checksum only says that bbolt wrote this meta, not that its numbers make sense. */
export const validateMeta = (meta: Meta): void => {
  const { pageBytes, pageCount, rootPage, freelistPage } = meta;
  if (pageBytes < PAGE_BYTES_MIN || pageBytes > PAGE_BYTES_MAX || !isPowerOfTwo(pageBytes)) {
    throw malformed('meta page', `page size ${pageBytes} is not a power of two that bbolt uses`);
  }
  if (rootPage < 2 || rootPage >= pageCount) {
    throw malformed('meta page', `root page ${rootPage} is outside of the pages 2 to ${pageCount - 1}`);
  }
  if (freelistPage !== undefined && (freelistPage < 2 || freelistPage >= pageCount)) {
    throw malformed(
      'meta page',
      `freelist page ${freelistPage} is outside of the pages 2 to ${pageCount - 1}`,
    );
  }
};

export const writeMetaPage = (page: Uint8Array, id: number, meta: Meta): void => {
  writePageHeader(page, { id, flags: META_FLAG, count: 0, overflow: 0 });
  const body = page.subarray(PAGE_HEADER_BYTES, META_PAGE_BYTES_MIN);
  writeU32(body, 0, MAGIC);
  writeU32(body, 4, VERSION);
  writeU32(body, 8, meta.pageBytes);
  writeU64(body, 16, meta.rootPage);
  if (meta.freelistPage === undefined) body.fill(0xff, 32, 40);
  else writeU64(body, 32, meta.freelistPage);
  writeU64(body, 40, meta.pageCount);
  writeU64(body, 48, meta.txid);
  const checksum = fnv1a64(body.subarray(0, CHECKSUM_AT));
  writeU32(body, CHECKSUM_AT, Number(checksum & 0xffffffffn));
  writeU32(body, CHECKSUM_AT + 4, Number(checksum >> 32n));
};
