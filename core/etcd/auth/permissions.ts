import { PERMISSION_TYPE, type Permission } from '../proto/index.ts';

/** Keys as strings of single bytes, which compare as the bytes do. */
const keyOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');

/** From a key up to another one, or to the end of all keys. */
interface KeySpan {
  readonly from: string;
  readonly to: string | undefined;
}

/** An absent end is one key, a single zero byte the end of all keys, as everywhere in etcd's API. */
const spanOf = (key: Uint8Array, rangeEnd: Uint8Array): KeySpan => {
  const from = keyOf(key);
  const to = keyOf(rangeEnd);
  if (to === '') return { from, to: `${from}\0` };
  return { from, to: to === '\0' ? undefined : to };
};

const reaches = (end: string | undefined, key: string): boolean => end === undefined || end >= key;

/** Sorted, without overlaps: a range that two permissions cover together is covered by one span. */
const merged = (spans: readonly KeySpan[]): readonly KeySpan[] => {
  const result: { from: string; to: string | undefined }[] = [];
  for (const { from, to } of [...spans].sort((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0))) {
    const last = result.at(-1);
    if (last === undefined || !reaches(last.to, from)) result.push({ from, to });
    else if (last.to !== undefined && (to === undefined || to > last.to)) last.to = to;
  }
  return result;
};

/** The last span that begins at the key or before it is the only one that can cover it. */
const covers = (spans: readonly KeySpan[], { from, to }: KeySpan): boolean => {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (spans[middle]!.from <= from) low = middle + 1;
    else high = middle;
  }
  const span = spans[low - 1];
  if (span === undefined) return false;
  if (span.to === undefined) return true;
  return to !== undefined && to <= span.to && from < span.to;
};

/** What one user may do, from all of its roles. */
export class KeyPermissions {
  readonly #read: readonly KeySpan[];
  readonly #write: readonly KeySpan[];

  constructor(permissions: readonly Permission[]) {
    const spansOf = (without: number): KeySpan[] =>
      permissions
        .filter(({ permType }) => permType !== without)
        .map(({ key, rangeEnd }) => spanOf(key, rangeEnd));
    this.#read = merged(spansOf(PERMISSION_TYPE.WRITE));
    this.#write = merged(spansOf(PERMISSION_TYPE.READ));
  }

  mayRead(key: Uint8Array, rangeEnd: Uint8Array): boolean {
    return covers(this.#read, spanOf(key, rangeEnd));
  }

  mayWrite(key: Uint8Array, rangeEnd: Uint8Array): boolean {
    return covers(this.#write, spanOf(key, rangeEnd));
  }
}

export const isValidPermissionRange = ({ key, rangeEnd }: Permission): boolean => {
  if (key.length === 0) return false;
  const { from, to } = spanOf(key, rangeEnd);
  return to === undefined || from < to;
};
