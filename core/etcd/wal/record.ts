import { crc32 } from 'node:zlib';
import type { EntryKind, HardState, LogEntry, SnapshotMark } from '../../raft/types.ts';

/**
 * A record on disk, aligned to 8 bytes, so that its first 8 bytes never straddle a sector:
 *
 *   length u32 | ~length u32 | checksum u32 | type u32 | payload | zeros | END
 *
 * Little endian. `length` is that of the payload. `checksum` continues from the checksum of the record before
 * over type and payload: it chains every record to the whole log before it. The last byte is never zero, so
 * a record of which only a beginning reached a file of zeros can be told from one that changed afterwards.
 */
export const HEADER_BYTES = 16;
const ALIGNMENT = 8;
const END = 0xa5;
export const SECTOR_BYTES = 512;

export const RECORD = { chain: 1, metadata: 2, entry: 3, hardState: 4, snapshot: 5 } as const;
export type RecordType = (typeof RECORD)[keyof typeof RECORD];

export interface WalMetadata {
  /** Hex, because it uses all 64 bits. */
  readonly clusterId: string;
  readonly memberId: number;
}

export const frameBytes = (payloadBytes: number): number =>
  Math.ceil((HEADER_BYTES + payloadBytes + 1) / ALIGNMENT) * ALIGNMENT;

const KINDS: readonly EntryKind[] = ['empty', 'normal', 'config'];
/** index f64, term f64, kind u8. Safe integers are exact as doubles. */
const ENTRY_HEADER_BYTES = 17;
const HARD_STATE_BYTES = 24;
const INITIAL_BYTES = 64 * 1024;
/** A buffer that grew for one huge batch is not kept. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;

/** Writes records one after the other into one buffer that is used again for the next batch. */
export class RecordWriter {
  #buffer = Buffer.alloc(INITIAL_BYTES);
  #at = 0;
  #chain: number;

  constructor(chain: number) {
    this.#chain = chain;
  }

  get chain(): number {
    return this.#chain;
  }
  get byteCount(): number {
    return this.#at;
  }

  /** The bytes written since the last `reset`; valid until the next one. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  reset(): void {
    this.#at = 0;
    if (this.#buffer.byteLength > KEPT_BYTES_MAX) this.#buffer = Buffer.alloc(INITIAL_BYTES);
  }

  entry({ index, term, kind, data }: LogEntry): void {
    const payload = this.#begin(RECORD.entry, ENTRY_HEADER_BYTES + data.byteLength);
    this.#buffer.writeDoubleLE(index, payload);
    this.#buffer.writeDoubleLE(term, payload + 8);
    this.#buffer[payload + 16] = KINDS.indexOf(kind);
    this.#buffer.set(data, payload + ENTRY_HEADER_BYTES);
    this.#end(payload, ENTRY_HEADER_BYTES + data.byteLength);
  }

  hardState({ term, vote, commit }: HardState): void {
    const payload = this.#begin(RECORD.hardState, HARD_STATE_BYTES);
    this.#buffer.writeDoubleLE(term, payload);
    this.#buffer.writeDoubleLE(vote, payload + 8);
    this.#buffer.writeDoubleLE(commit, payload + 16);
    this.#end(payload, HARD_STATE_BYTES);
  }

  snapshot(mark: SnapshotMark): void {
    this.#json(RECORD.snapshot, mark);
  }

  metadata(metadata: WalMetadata): void {
    this.#json(RECORD.metadata, metadata);
  }

  /** Opens a segment: names the checksum that the segment before ended with. */
  chainStart(): void {
    const payload = this.#begin(RECORD.chain, 4);
    this.#buffer.writeUInt32LE(this.#chain, payload);
    this.#end(payload, 4);
  }

  #json(type: RecordType, value: unknown): void {
    const text = Buffer.from(JSON.stringify(value));
    const payload = this.#begin(type, text.byteLength);
    this.#buffer.set(text, payload);
    this.#end(payload, text.byteLength);
  }

  #begin(type: RecordType, payloadBytes: number): number {
    const needed = this.#at + frameBytes(payloadBytes);
    if (needed > this.#buffer.byteLength) {
      const larger = Buffer.alloc(Math.max(needed, this.#buffer.byteLength * 2));
      this.#buffer.copy(larger, 0, 0, this.#at);
      this.#buffer = larger;
    }
    this.#buffer.writeUInt32LE(payloadBytes, this.#at);
    this.#buffer.writeUInt32LE(~payloadBytes >>> 0, this.#at + 4);
    this.#buffer.writeUInt32LE(type, this.#at + 12);
    return this.#at + HEADER_BYTES;
  }

  #end(payload: number, payloadBytes: number): void {
    const start = payload - HEADER_BYTES;
    this.#chain = crc32(this.#buffer.subarray(start + 12, payload + payloadBytes), this.#chain);
    this.#buffer.writeUInt32LE(this.#chain, start + 8);
    const end = start + frameBytes(payloadBytes);
    this.#buffer.fill(0, payload + payloadBytes, end - 1);
    this.#buffer[end - 1] = END;
    this.#at = end;
  }
}

export type ReadRecord =
  | {
      readonly status: 'whole';
      readonly type: number;
      readonly payload: Buffer;
      readonly next: number;
      readonly chain: number;
    }
  /** Nothing was written here. */
  | { readonly status: 'end' }
  /** Only a part of the record was written: it was never synced. */
  | { readonly status: 'torn' }
  /** It was written and changed since. */
  | { readonly status: 'corrupt' };

export const isZero = (bytes: Buffer, from: number, to: number): boolean => {
  for (let i = from; i < to; i += 1) if (bytes[i] !== 0) return false;
  return true;
};

/** `bytes` is the whole segment. */
export const readRecord = (bytes: Buffer, at: number, chain: number): ReadRecord => {
  if (at + 8 > bytes.byteLength) return { status: at === bytes.byteLength ? 'end' : 'torn' };
  const length = bytes.readUInt32LE(at);
  const inverse = bytes.readUInt32LE(at + 4);
  if (length === 0 && inverse === 0) return { status: 'end' };
  if (~length >>> 0 !== inverse)
    return { status: isZero(bytes, at + 8, bytes.byteLength) ? 'torn' : 'corrupt' };
  const next = at + frameBytes(length);
  if (next > bytes.byteLength) return { status: 'torn' };
  const checksum = bytes.readUInt32LE(at + 8);
  const end = at + HEADER_BYTES + length;
  if (crc32(bytes.subarray(at + 12, end), chain) === checksum && bytes[next - 1] === END)
    return {
      status: 'whole',
      type: bytes.readUInt32LE(at + 12),
      payload: bytes.subarray(at + HEADER_BYTES, end),
      next,
      chain: checksum,
    };
  return { status: isTorn(bytes, at, next) ? 'torn' : 'corrupt' };
};

/** A sector of the record, or its end, is still as zero as the file was before. */
const isTorn = (bytes: Buffer, at: number, next: number): boolean => {
  if (bytes[next - 1] === 0) return true;
  for (let from = at; from < next;) {
    const to = Math.min(next, (Math.floor(from / SECTOR_BYTES) + 1) * SECTOR_BYTES);
    if (isZero(bytes, from, to)) return true;
    from = to;
  }
  return false;
};

export const decodeEntry = (payload: Buffer): LogEntry => ({
  index: payload.readDoubleLE(0),
  term: payload.readDoubleLE(8),
  kind: KINDS[payload[16] as number] as EntryKind,
  data: payload.subarray(ENTRY_HEADER_BYTES),
});

export const decodeHardState = (payload: Buffer): HardState => ({
  term: payload.readDoubleLE(0),
  vote: payload.readDoubleLE(8),
  commit: payload.readDoubleLE(16),
});

export const decodeSnapshot = (payload: Buffer): SnapshotMark =>
  JSON.parse(payload.toString()) as SnapshotMark;
export const decodeMetadata = (payload: Buffer): WalMetadata => JSON.parse(payload.toString()) as WalMetadata;
