/**
 * The bytes of a bbolt file (file format version 2), little endian:
 *
 *   page    id u64 | flags u16 | count u16 | overflow u32 | elements | keys and values
 *   branch  pos u32 | ksize u32 | child page u64                  pos counts from the element itself
 *   leaf    flags u32 | pos u32 | ksize u32 | vsize u32
 *   bucket  root page u64 | sequence u64 [ | inline leaf page, when the root page is 0 ]
 *
 * Source: go.etcd.io/bbolt, internal/common. bbolt writes native byte order; all platforms that etcd
 * supports are little endian.
 */
export const PAGE_HEADER_BYTES = 16;
export const BRANCH_ELEMENT_BYTES = 16;
export const LEAF_ELEMENT_BYTES = 16;
export const BUCKET_HEADER_BYTES = 16;

export const BRANCH_FLAG = 0x01;
export const LEAF_FLAG = 0x02;
export const META_FLAG = 0x04;
export const FREELIST_FLAG = 0x10;

/** On a leaf element: the value is a bucket. */
export const BUCKET_ELEMENT_FLAG = 0x01;

/** What this writer uses; the reader takes the size from the meta page. */
export const PAGE_BYTES = 4096;
/** bbolt looks for its second meta page at these sizes and no others. */
export const PAGE_BYTES_MIN = 1 << 10;
export const PAGE_BYTES_MAX = 1 << 24;

/** A freelist with this count keeps its true length in its first element. */
export const FREELIST_COUNT_ESCAPE = 0xffff;

export const KEY_BYTES_MAX = 32768;
export const VALUE_BYTES_MAX = 2 ** 31 - 2;

const U32 = 2 ** 32;

export const readU16 = (bytes: Uint8Array, at: number): number => bytes[at]! | (bytes[at + 1]! << 8);

export const readU32 = (bytes: Uint8Array, at: number): number =>
  (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;

/** Exact up to 2^53; beyond that only good for being out of range. */
export const readU64 = (bytes: Uint8Array, at: number): number =>
  readU32(bytes, at) + readU32(bytes, at + 4) * U32;

export const writeU16 = (bytes: Uint8Array, at: number, value: number): void => {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
};

export const writeU32 = (bytes: Uint8Array, at: number, value: number): void => {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
};

export const writeU64 = (bytes: Uint8Array, at: number, value: number): void => {
  writeU32(bytes, at, value % U32);
  writeU32(bytes, at + 4, Math.floor(value / U32));
};

export const writePageHeader = (
  bytes: Uint8Array,
  page: { readonly id: number; readonly flags: number; readonly count: number; readonly overflow: number },
): void => {
  writeU64(bytes, 0, page.id);
  writeU16(bytes, 8, page.flags);
  writeU16(bytes, 10, page.count);
  writeU32(bytes, 12, page.overflow);
};

/** Byte order, as bbolt sorts its keys. A loop: keys differ early, and a native call costs more than that. */
export const compareBytes = (a: Uint8Array, b: Uint8Array): number => {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i += 1) {
    const difference = a[i]! - b[i]!;
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
};
