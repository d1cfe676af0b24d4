import { malformed } from '../failure.ts';
import { FREELIST_COUNT_ESCAPE, FREELIST_FLAG, PAGE_HEADER_BYTES, readU64 } from './format.ts';
import { countOf, flagsOf } from './page.ts';

const PAGE_ID_BYTES = 8;

/**
 * Ids of the free pages, in the order stored. bbolt's array and hashmap freelists differ in memory only: on
 * disk both are this list, with its length in the first element once it no longer fits into 16 bits.
 */
export function* freePageIds(page: Uint8Array, where: string): Generator<number> {
  const flags = flagsOf(page);
  if (flags !== FREELIST_FLAG)
    throw malformed(where, `expected a freelist page, its flags are 0x${flags.toString(16)}`);
  const escaped = countOf(page) === FREELIST_COUNT_ESCAPE;
  if (escaped && page.length < PAGE_HEADER_BYTES + PAGE_ID_BYTES)
    throw malformed(where, 'its count is cut off');
  const count = escaped ? readU64(page, PAGE_HEADER_BYTES) : countOf(page);
  const start = PAGE_HEADER_BYTES + (escaped ? PAGE_ID_BYTES : 0);
  if (start + count * PAGE_ID_BYTES > page.length) {
    throw malformed(where, `${count} free pages do not fit into ${page.length} bytes`);
  }
  for (let i = 0; i < count; i += 1) yield readU64(page, start + i * PAGE_ID_BYTES);
}
