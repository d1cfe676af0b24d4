import { malformed } from '../failure.ts';
import {
  BRANCH_ELEMENT_BYTES,
  BRANCH_FLAG,
  BUCKET_ELEMENT_FLAG,
  LEAF_ELEMENT_BYTES,
  LEAF_FLAG,
  PAGE_HEADER_BYTES,
  readU16,
  readU32,
  readU64,
} from './format.ts';

export interface BranchElement {
  readonly key: Buffer;
  readonly child: number;
}

/** Where an element is in its page. Slices are made when asked for: a check of all pages needs none. */
export class LeafElement {
  readonly isBucket: boolean;
  readonly #page: Buffer;
  readonly #start: number;
  readonly #keyEnd: number;
  readonly #end: number;

  constructor(page: Buffer, at: { start: number; keyEnd: number; end: number; isBucket: boolean }) {
    this.#page = page;
    this.#start = at.start;
    this.#keyEnd = at.keyEnd;
    this.#end = at.end;
    this.isBucket = at.isBucket;
  }

  /** Views into a block of the file: anyone who keeps one keeps the block. */
  get key(): Buffer {
    return this.#page.subarray(this.#start, this.#keyEnd);
  }

  get value(): Buffer {
    return this.#page.subarray(this.#keyEnd, this.#end);
  }
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

interface Extent {
  readonly index: number;
  readonly start: number;
  readonly keyEnd: number;
  readonly end: number;
}

/** As compareBytes, without making slices. */
const compareKeys = (page: Buffer, a: Extent, b: Extent): number => {
  const shared = Math.min(a.keyEnd - a.start, b.keyEnd - b.start);
  for (let i = 0; i < shared; i += 1) {
    const difference = page[a.start + i]! - page[b.start + i]!;
    if (difference !== 0) return difference;
  }
  return a.keyEnd - a.start - (b.keyEnd - b.start);
};

/** An element lies in the page behind the element table, has a key, and comes after the one before it. */
const assertSound = (
  page: Buffer,
  where: string,
  at: Extent,
  dataAt: number,
  previous: Extent | undefined,
): void => {
  const { index, start, keyEnd, end } = at;
  if (start < dataAt) throw malformed(where, `element ${index} points into the element table`);
  if (start === keyEnd) throw malformed(where, `the key of element ${index} is empty`);
  if (end > page.length) {
    throw malformed(where, `element ${index} ends at byte ${end}, the page has ${page.length}`);
  }
  if (previous !== undefined && compareKeys(page, previous, at) >= 0) {
    throw malformed(where, `the key of element ${index} is not after that of element ${previous.index}`);
  }
};

const parseBranch = (bytes: Buffer, count: number, where: string): BranchPage => {
  // bbolt never keeps an empty branch, and only because of that is the walk over a broken tree bounded.
  if (count === 0) throw malformed(where, 'a branch page without elements');
  const dataAt = PAGE_HEADER_BYTES + count * BRANCH_ELEMENT_BYTES;
  const elements: BranchElement[] = [];
  let previous: Extent | undefined;
  for (let index = 0; index < count; index += 1) {
    const at = PAGE_HEADER_BYTES + index * BRANCH_ELEMENT_BYTES;
    const start = at + readU32(bytes, at);
    const end = start + readU32(bytes, at + 4);
    const extent = { index, start, keyEnd: end, end };
    assertSound(bytes, where, extent, dataAt, previous);
    previous = extent;
    elements.push({ key: bytes.subarray(start, end), child: readU64(bytes, at + 8) });
  }
  return { kind: 'branch', where, elements };
};

const parseLeaf = (bytes: Buffer, count: number, where: string): LeafPage => {
  const dataAt = PAGE_HEADER_BYTES + count * LEAF_ELEMENT_BYTES;
  const elements: LeafElement[] = [];
  let previous: Extent | undefined;
  for (let index = 0; index < count; index += 1) {
    const at = PAGE_HEADER_BYTES + index * LEAF_ELEMENT_BYTES;
    const flags = readU32(bytes, at);
    const start = at + readU32(bytes, at + 4);
    const keyEnd = start + readU32(bytes, at + 8);
    const end = keyEnd + readU32(bytes, at + 12);
    if (flags > BUCKET_ELEMENT_FLAG) {
      throw malformed(where, `element ${index} has unknown flags ${nameOfFlags(flags)}`);
    }
    const extent = { index, start, keyEnd, end, isBucket: flags === BUCKET_ELEMENT_FLAG };
    assertSound(bytes, where, extent, dataAt, previous);
    previous = extent;
    elements.push(new LeafElement(bytes, extent));
  }
  return { kind: 'leaf', where, elements };
};

/**
 * Reads the elements of a tree page (or of the page inside an inline bucket), all of them checked: every
 * key and value lies inside the page, keys ascend. `bytes` is the page with its overflow pages.
 */
export const parseTreePage = (bytes: Buffer, where: string): BranchPage | LeafPage => {
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
