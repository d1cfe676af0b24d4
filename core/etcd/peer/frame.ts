import { malformed } from './bytes.ts';

/** What a frame carries. The number is on the wire. */
export const FRAME = {
  hello: 1,
  helloReply: 2,
  message: 3,
  ping: 4,
  pong: 5,
  alive: 6,
  request: 7,
  response: 8,
  failure: 9,
  snapshotHead: 10,
  snapshotChunk: 11,
  snapshotEnd: 12,
  snapshotDone: 13,
} as const;

/** A frame is its length (of type and payload), its type, its payload. */
export const FRAME_HEAD_BYTES = 5;
/** Room for the largest batch of proposals that a follower forwards, and for one entry of any size allowed. */
export const FRAME_BYTES_MAX = 64 * 1024 * 1024;
/** Until both sides know each other a few hundred bytes suffice; no one unknown makes us allocate. */
export const HELLO_FRAME_BYTES_MAX = 16 * 1024;

/** Cuts a stream into frames. Frames that come whole are views of what was read; others are put together once. */
export class FrameReader {
  readonly #onFrame: (type: number, payload: Buffer) => void;
  readonly #head = Buffer.alloc(FRAME_HEAD_BYTES);
  #headBytes = 0;
  #body: Buffer | undefined;
  #bodyBytes = 0;
  frameBytesMax = HELLO_FRAME_BYTES_MAX;

  constructor(onFrame: (type: number, payload: Buffer) => void) {
    this.#onFrame = onFrame;
  }

  /** Throws PeerError Malformed; the stream is then of no further use. */
  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#body !== undefined) at = this.#fillBody(chunk, at, this.#body);
      else if (this.#headBytes === 0 && chunk.length - at >= FRAME_HEAD_BYTES)
        at = this.#readWhole(chunk, at);
      else at = this.#fillHead(chunk, at);
    }
  }

  #readWhole(chunk: Buffer, at: number): number {
    const length = this.#payloadBytes(chunk, at);
    const start = at + FRAME_HEAD_BYTES;
    const end = start + length;
    if (end <= chunk.length) {
      this.#onFrame(chunk[at + 4]!, chunk.subarray(start, end));
      return end;
    }
    return this.#fillHead(chunk, at);
  }

  #fillHead(chunk: Buffer, at: number): number {
    const copied = chunk.copy(this.#head, this.#headBytes, at, at + FRAME_HEAD_BYTES - this.#headBytes);
    this.#headBytes += copied;
    if (this.#headBytes === FRAME_HEAD_BYTES) {
      this.#body = Buffer.allocUnsafeSlow(this.#payloadBytes(this.#head, 0));
      this.#bodyBytes = 0;
      if (this.#body.length === 0) this.#finish(this.#body);
    }
    return at + copied;
  }

  #fillBody(chunk: Buffer, at: number, body: Buffer): number {
    const copied = chunk.copy(body, this.#bodyBytes, at);
    this.#bodyBytes += copied;
    if (this.#bodyBytes === body.length) this.#finish(body);
    return at + copied;
  }

  #finish(body: Buffer): void {
    this.#body = undefined;
    this.#headBytes = 0;
    this.#onFrame(this.#head[4]!, body);
  }

  #payloadBytes(head: Buffer, at: number): number {
    const length = head.readUInt32BE(at);
    if (length === 0 || length > this.frameBytesMax) {
      throw malformed(`a frame of ${length} bytes, allowed are 1 to ${this.frameBytesMax}`);
    }
    return length - 1;
  }
}
