import { FRAME, FRAME_HEADER_BYTES, FRAME_PAYLOAD_BYTES_MAX, H2_ERROR, PREFACE } from '../frame.ts';
import { breach } from './protocol-breach.ts';

type OnFrame = (type: number, flags: number, streamId: number, payload: Buffer) => void;

/** Cuts a byte stream into frames. Holds at most one frame that is not complete; payloads are views. */
export class FrameParser {
  readonly #onFrame: OnFrame;
  #rest: Buffer = Buffer.alloc(0);
  #expects: 'preface' | 'settings' | 'frames' = 'preface';

  constructor(onFrame: OnFrame) {
    this.#onFrame = onFrame;
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = EMPTY;
    let at = 0;
    if (this.#expects === 'preface') {
      const known = Math.min(bytes.length, PREFACE.length);
      if (bytes.compare(PREFACE, 0, known, 0, known) !== 0) throw breach('this is not HTTP/2');
      if (known < PREFACE.length) {
        this.#rest = bytes;
        return;
      }
      this.#expects = 'settings';
      at = PREFACE.length;
    }
    while (bytes.length - at >= FRAME_HEADER_BYTES) {
      const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
      if (length > FRAME_PAYLOAD_BYTES_MAX) throw breach('frame is too large', H2_ERROR.frameSizeError);
      const start = at + FRAME_HEADER_BYTES;
      if (bytes.length - start < length) break;
      const type = bytes[at + 3]!;
      if (this.#expects === 'settings' && type !== FRAME.settings) throw breach('SETTINGS comes first');
      this.#expects = 'frames';
      const streamId = bytes.readUInt32BE(at + 5) & 0x7fffffff;
      at = start + length;
      this.#onFrame(type, bytes[start - 5]!, streamId, bytes.subarray(start, at));
    }
    if (at < bytes.length) this.#rest = bytes.subarray(at);
  }
}

const EMPTY: Buffer = Buffer.alloc(0);
