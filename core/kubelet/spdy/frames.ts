import { ReasonError } from '../../base/errors.ts';

/** Types of control frames that the streaming protocols of Kubernetes use. */
export const SYN_STREAM = 1;
export const SYN_REPLY = 2;
export const RST_STREAM = 3;
export const SETTINGS = 4;
export const PING = 6;
export const GOAWAY = 7;
export const HEADERS = 8;
export const WINDOW_UPDATE = 9;

export const FLAG_FIN = 1;
export const SPDY_VERSION = 3;

/** Reasons of RST_STREAM. */
export const RST_REFUSED_STREAM = 3;
export const RST_CANCEL = 5;

const HEAD_BYTES = 8;
/** A frame may have 16 MiB; no one sends more than a few dozen kilobytes at a time. */
export const FRAME_BYTES_MAX = 4 * 1024 * 1024;
export const DATA_BYTES_MAX = 64 * 1024;

export type Frame =
  | { readonly frame: 'data'; readonly streamId: number; readonly isLast: boolean; readonly payload: Buffer }
  | { readonly frame: 'control'; readonly type: number; readonly flags: number; readonly payload: Buffer };

/** Cuts a byte stream into frames. */
export class FrameReader {
  #buffer: Buffer = Buffer.alloc(0);

  /** The complete frames so far. ReasonError `Malformed` ends the connection. */
  push(chunk: Buffer): Frame[] {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
    const frames: Frame[] = [];
    for (;;) {
      if (this.#buffer.length < HEAD_BYTES) return frames;
      const flags = this.#buffer[4]!;
      const length = this.#buffer.readUIntBE(5, 3);
      if (length > FRAME_BYTES_MAX) throw new ReasonError('Malformed', 'SPDY: the frame is too long');
      if (this.#buffer.length < HEAD_BYTES + length) return frames;
      const word = this.#buffer.readUInt32BE(0);
      const payload = this.#buffer.subarray(HEAD_BYTES, HEAD_BYTES + length);
      this.#buffer = this.#buffer.subarray(HEAD_BYTES + length);
      if (word < 0x8000_0000) {
        frames.push({ frame: 'data', streamId: word, isLast: (flags & FLAG_FIN) !== 0, payload });
        continue;
      }
      const version = (word >>> 16) & 0x7fff;
      if (version !== SPDY_VERSION)
        throw new ReasonError('Malformed', `SPDY: version ${version} is not spoken`);
      frames.push({ frame: 'control', type: word & 0xffff, flags, payload });
    }
  }
}

const head = (word: number, flags: number, length: number): Buffer => {
  const bytes = Buffer.alloc(HEAD_BYTES);
  bytes.writeUInt32BE(word >>> 0, 0);
  bytes[4] = flags;
  bytes.writeUIntBE(length, 5, 3);
  return bytes;
};

export const controlFrame = (type: number, payload: Buffer, flags = 0): Buffer =>
  Buffer.concat([head(0x8000_0000 + SPDY_VERSION * 65_536 + type, flags, payload.length), payload]);

export const dataFrame = (streamId: number, payload: Buffer, isLast: boolean): Buffer =>
  Buffer.concat([head(streamId, isLast ? FLAG_FIN : 0, payload.length), payload]);

const words = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => bytes.writeUInt32BE(value >>> 0, index * 4));
  return bytes;
};

export const synReply = (streamId: number, headers: Buffer): Buffer =>
  controlFrame(SYN_REPLY, Buffer.concat([words(streamId), headers]));
export const synStream = (streamId: number, headers: Buffer): Buffer =>
  controlFrame(SYN_STREAM, Buffer.concat([words(streamId, 0), Buffer.alloc(2), headers]));
export const rstStream = (streamId: number, reason: number): Buffer =>
  controlFrame(RST_STREAM, words(streamId, reason));
export const ping = (id: number): Buffer => controlFrame(PING, words(id));
export const goAway = (lastStreamId: number): Buffer => controlFrame(GOAWAY, words(lastStreamId, 0));

/** Priority and slot stand between the ids and the headers. */
export const SYN_STREAM_HEADERS_AT = 10;
