import {
  LEAF_ELEMENT_BYTES,
  LEAF_FLAG,
  PAGE_BYTES,
  PAGE_HEADER_BYTES,
  writePageHeader,
  writeU32,
} from './format.ts';
import type { PageContent } from './page-sink.ts';

const ELEMENTS_MAX = PAGE_BYTES / LEAF_ELEMENT_BYTES;

export interface LeafItem {
  readonly flags: number;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

export interface LeafBuffer extends PageContent {
  readonly firstKey: Uint8Array;
  readonly lastKey: Uint8Array;
  /** Whether the item still fits beside the others without an overflow page. */
  hasRoomFor(item: LeafItem): boolean;
  add(item: LeafItem): void;
  clear(): void;
}

/**
 * Collects one leaf page. Keys and values are copied as they come, so a source may reuse its buffers: LMDB
 * does. Where they go in the page is known only with the number of elements, hence the scratch area.
 */
export const leafBuffer = (): LeafBuffer => {
  const flags = new Uint32Array(ELEMENTS_MAX);
  const keyBytes = new Uint32Array(ELEMENTS_MAX);
  const valueBytes = new Uint32Array(ELEMENTS_MAX);
  let data = Buffer.alloc(PAGE_BYTES);
  let dataBytes = 0;
  let lastKeyAt = 0;
  let count = 0;

  const byteLength = (): number => PAGE_HEADER_BYTES + count * LEAF_ELEMENT_BYTES + dataBytes;

  return {
    get count() {
      return count;
    },
    get byteLength() {
      return byteLength();
    },
    get firstKey() {
      return data.subarray(0, keyBytes[0]);
    },
    get lastKey() {
      return data.subarray(lastKeyAt, lastKeyAt + keyBytes[count - 1]!);
    },
    hasRoomFor: ({ key, value }) =>
      byteLength() + LEAF_ELEMENT_BYTES + key.length + value.length <= PAGE_BYTES,
    add(item) {
      const { key, value } = item;
      const needed = dataBytes + key.length + value.length;
      if (needed > data.length) {
        const larger = Buffer.alloc(needed);
        larger.set(data.subarray(0, dataBytes));
        data = larger;
      }
      data.set(key, dataBytes);
      data.set(value, dataBytes + key.length);
      lastKeyAt = dataBytes;
      dataBytes = needed;
      flags[count] = item.flags;
      keyBytes[count] = key.length;
      valueBytes[count] = value.length;
      count += 1;
    },
    clear() {
      count = 0;
      dataBytes = 0;
      // One large value must not be paid for until the end.
      if (data.length > PAGE_BYTES) data = Buffer.alloc(PAGE_BYTES);
    },
    encodeInto(page) {
      writePageHeader(page, { id: 0, flags: LEAF_FLAG, count, overflow: 0 });
      const dataAt = PAGE_HEADER_BYTES + count * LEAF_ELEMENT_BYTES;
      let position = dataAt;
      for (let index = 0; index < count; index += 1) {
        const at = PAGE_HEADER_BYTES + index * LEAF_ELEMENT_BYTES;
        writeU32(page, at, flags[index]!);
        writeU32(page, at + 4, position - at);
        writeU32(page, at + 8, keyBytes[index]!);
        writeU32(page, at + 12, valueBytes[index]!);
        position += keyBytes[index]! + valueBytes[index]!;
      }
      page.set(data.subarray(0, dataBytes), dataAt);
    },
  };
};
