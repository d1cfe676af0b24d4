import { InvariantError } from '../../base/assert.ts';

/** `main` counts changes of the store, `sub` the changes made together under one main revision. */
export interface Revision {
  readonly main: number;
  readonly sub: number;
}

/** 8 bytes main, '_', 8 bytes sub, both big endian; a deletion is marked by one more byte, 't'. */
export const REVISION_BYTES = 17;
const SEPARATOR = 0x5f;
const TOMBSTONE = 0x74;
const WORD = 2 ** 32;

const writeUint64 = (into: Buffer, value: number, offset: number): void => {
  into.writeUInt32BE(Math.floor(value / WORD), offset);
  into.writeUInt32BE(value % WORD, offset + 4);
};

export const readUint64 = (from: Uint8Array, offset: number): number => {
  let high = 0;
  let low = 0;
  for (let i = 0; i < 4; i += 1) {
    high = high * 256 + (from[offset + i] ?? 0);
    low = low * 256 + (from[offset + 4 + i] ?? 0);
  }
  return high * WORD + low;
};

export const encodeRevision = (main: number, sub: number, tombstone = false): Buffer => {
  const bytes = Buffer.allocUnsafe(tombstone ? REVISION_BYTES + 1 : REVISION_BYTES);
  writeUint64(bytes, main, 0);
  bytes[8] = SEPARATOR;
  writeUint64(bytes, sub, 9);
  if (tombstone) bytes[REVISION_BYTES] = TOMBSTONE;
  return bytes;
};

export const isTombstone = (bytes: Uint8Array): boolean =>
  bytes.byteLength === REVISION_BYTES + 1 && bytes[REVISION_BYTES] === TOMBSTONE;

export const decodeRevision = (bytes: Uint8Array): Revision => {
  if (bytes.byteLength < REVISION_BYTES || bytes[8] !== SEPARATOR)
    throw new InvariantError(`no revision: ${Buffer.from(bytes).toString('hex')} in the bucket of keys`);
  return { main: readUint64(bytes, 0), sub: readUint64(bytes, 9) };
};

/** etcd keeps its counters (consistent index, term, compact marks before 17 bytes) as 8 bytes big endian. */
export const encodeUint64 = (value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(8);
  writeUint64(bytes, value, 0);
  return bytes;
};
