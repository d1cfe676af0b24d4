import { ReasonError } from '../../base/errors.ts';
import { BUCKETS, type BackendSnapshot } from '../mvcc/backend/backend.ts';
import type { LoadedEntry } from '../mvcc/backend/load.ts';

const CHUNK_BYTES = 256 * 1024;
/** Larger than any pair a request can carry. */
const PAIR_BYTES_MAX = 64 * 1024 * 1024;
// bucket u8, key length u32, value length u32
const HEAD_BYTES = 9;

/** The whole state of a member as bytes: every pair of every bucket, in chunks of bounded size. */
export async function* encodeState(
  snapshot: BackendSnapshot,
  pause: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for (const [bucketNumber, bucket] of BUCKETS.entries()) {
    for (const { key, value } of snapshot.entries(bucket)) {
      const head = Buffer.allocUnsafe(HEAD_BYTES);
      head[0] = bucketNumber;
      head.writeUInt32BE(key.length, 1);
      head.writeUInt32BE(value.length, 5);
      parts.push(head, key, value);
      bytes += HEAD_BYTES + key.length + value.length;
      if (bytes < CHUNK_BYTES) continue;
      yield Buffer.concat(parts);
      parts = [];
      bytes = 0;
      await pause();
    }
  }
  if (bytes > 0) yield Buffer.concat(parts);
}

const damaged = (what: string): ReasonError =>
  new ReasonError('DamagedState', `the state that was received is damaged: ${what}`);

/** The pairs again. Holds no more than one pair and one chunk. */
export async function* decodeState(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<LoadedEntry> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const next = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    rest = rest.length === 0 ? next : Buffer.concat([rest, next]);
    for (;;) {
      if (rest.length < HEAD_BYTES) break;
      const bucket = BUCKETS[rest[0] ?? BUCKETS.length];
      const keyEnd = HEAD_BYTES + rest.readUInt32BE(1);
      const end = keyEnd + rest.readUInt32BE(5);
      if (bucket === undefined) throw damaged(`unknown bucket ${rest[0]}`);
      if (end > PAIR_BYTES_MAX) throw damaged(`a pair of ${end} bytes`);
      if (rest.length < end) break;
      // Copied: a pair must not keep the chunk alive that it came in.
      yield {
        bucket,
        key: Buffer.from(rest.subarray(HEAD_BYTES, keyEnd)),
        value: Buffer.from(rest.subarray(keyEnd, end)),
      };
      rest = rest.subarray(end);
    }
  }
  if (rest.length > 0) throw damaged(`it ends ${rest.length} bytes into a pair`);
}
