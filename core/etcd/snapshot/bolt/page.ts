import { malformed } from '../failure.ts';
import {
  BRANCH_ELEMENT_BYTES,
  BRANCH_FLAG,
  BUCKET_ELEMENT_FLAG,
  LEAF_ELEMENT_BYTES,
  LEAF_FLAG,
  PAGE_HEADER_BYTES,
  compareBytes,
  readU16,
  readU32,
  readU64,
} from './format.ts';

export interface BranchElement {
  readonly key: Uint8Array;
  readonly child: number;
}

export interface LeafElement {
  readonly key: Uint8Array;
  /** A view into the page: copy it to keep it past the iteration without keeping the page. */
  readonly value: Uint8Array;
  readonly isBucket: boolean;
}

export interface BranchPage {
  readonly kind: 'branch';
  readonly where: string;
  readonly elements: readonly BranchElement[];
}

export interface LeafPage {
  readonly kind: 'leaf';
  readonly where: string;
  readonly elements: readonly LeafElement[];
}

export const flagsOf = (page: Uint8Array): number => readU16(page, 8);
export const countOf = (page: Uint8Array): number => readU16(page, 10);
export const overflowOf = (page: Uint8Array): number => readU32(page, 12);

const nameOfFlags = (flags: number): string => `0x${flags.toString(16).padStart(2, '0')}`;

const sliceKey = (
  bytes: Uint8Array,
  where: string,
  at: { index: number; start: number; length: number; end: number },
) => {
  const { index, start, length, end } = at;
  if (length === 0) throw malformed(where, `the key of element ${index} is empty`);
  if (end > bytes.length) {
    throw malformed(where, `element ${index} ends at byte ${end}, the page has ${bytes.length}`);
  }
  return bytes.subarray(start, start + length);
};

const assertAscending = (elements: readonly { readonly key: Uint8Array }[], where: string): void => {
  for (let i = 1; i < elements.length; i += 1) {
    if (compareBytes(elements[i - 1]!.key, elements[i]!.key) >= 0) {
      throw malformed(where, `the key of element ${i} is not after that of element ${i - 1}`);
    }
  }
};

const parseBranch = (bytes: Uint8Array, count: number, where: string): BranchPage => {
  // bbolt never keeps an empty branch, and only because of that is the walk over a broken tree bounded.
  if (count === 0) throw malformed(where, 'a branch page without elements');
  const dataAt = PAGE_HEADER_BYTES + count * BRANCH_ELEMENT_BYTES;
  const elements: BranchElement[] = [];
  for (let index = 0; index < count; index += 1) {
    const at = PAGE_HEADER_BYTES + index * BRANCH_ELEMENT_BYTES;
    const start = at + readU32(bytes, at);
    const length = readU32(bytes, at + 4);
    if (start < dataAt) throw malformed(where, `element ${index} points into the element table`);
    const key = sliceKey(bytes, where, { index, start, length, end: start + length });
    elements.push({ key, child: readU64(bytes, at + 8) });
  }
  assertAscending(elements, where);
  return { kind: 'branch', where, elements };
};

const parseLeaf = (bytes: Uint8Array, count: number, where: string): LeafPage => {
  const dataAt = PAGE_HEADER_BYTES + count * LEAF_ELEMENT_BYTES;
  const elements: LeafElement[] = [];
  for (let index = 0; index < count; index += 1) {
    const at = PAGE_HEADER_BYTES + index * LEAF_ELEMENT_BYTES;
    const flags = readU32(bytes, at);
    const start = at + readU32(bytes, at + 4);
    const length = readU32(bytes, at + 8);
    const end = start + length + readU32(bytes, at + 12);
    if (flags > BUCKET_ELEMENT_FLAG) {
      throw malformed(where, `element ${index} has unknown flags ${nameOfFlags(flags)}`);
    }
    if (start < dataAt) throw malformed(where, `element ${index} points into the element table`);
    const key = sliceKey(bytes, where, { index, start, length, end });
    elements.push({
      key,
      value: bytes.subarray(start + length, end),
      isBucket: flags === BUCKET_ELEMENT_FLAG,
    });
  }
  assertAscending(elements, where);
  return { kind: 'leaf', where, elements };
};

/**
 * Reads the elements of a tree page (or of the page inside an inline bucket), all of them checked: every
 * key and value lies inside the page, keys ascend. `bytes` is the page with its overflow pages.
 */
export const parseTreePage = (bytes: Uint8Array, where: string): BranchPage | LeafPage => {
  const flags = flagsOf(bytes);
  const count = countOf(bytes);
  if (flags !== BRANCH_FLAG && flags !== LEAF_FLAG) {
    throw malformed(where, `expected a branch or leaf page, its flags are ${nameOfFlags(flags)}`);
  }
  if (PAGE_HEADER_BYTES + count * LEAF_ELEMENT_BYTES > bytes.length) {
    throw malformed(where, `${count} elements do not fit into ${bytes.length} bytes`);
  }
  return flags === BRANCH_FLAG ? parseBranch(bytes, count, where) : parseLeaf(bytes, count, where);
};
