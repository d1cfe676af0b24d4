import { createInflate, type Inflate } from 'node:zlib';
import { ReasonError } from '../../base/errors.ts';
import { SPDY_DICTIONARY } from './dictionary.ts';

export type SpdyHeaders = ReadonlyMap<string, string>;

export const HEADERS_BYTES_MAX = 64 * 1024;
const HEADERS_COUNT_MAX = 256;
/** A stored block of deflate holds no more. */
const STORED_BYTES_MAX = 65_535;

const broken = (why: string): ReasonError<'Malformed'> =>
  new ReasonError('Malformed', `SPDY headers: ${why}`);

const adler32 = (bytes: Uint8Array): number => {
  let a = 1;
  let b = 0;
  for (const byte of bytes) {
    a = (a + byte) % 65_521;
    b = (b + a) % 65_521;
  }
  return b * 65_536 + a;
};

/** zlib's two bytes that announce a dictionary, then the dictionary's checksum. */
const ZLIB_HEAD = ((): Buffer => {
  const head = Buffer.from([0x78, 0xbb, 0, 0, 0, 0]);
  head.writeUInt32BE(adler32(SPDY_DICTIONARY), 2);
  return head;
})();

/**
 * An empty stored block, as a sync flush writes it. Go's reader hands out what it has only when it meets one; without
 * it, it looks for the next block in vain and fails for good.
 */
const FLUSH = Buffer.from([0, 0, 0, 0xff, 0xff]);

const text = (value: string): Buffer => {
  const bytes = Buffer.from(value, 'latin1');
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};

/**
 * Header blocks on their way out. They are stored and not compressed: a stored block ends on a byte, so each frame
 * is complete on its own, and a few short headers a connection are not worth a compressor's state.
 */
export class HeaderEncoder {
  #isBegun = false;

  encode(headers: SpdyHeaders): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(headers.size);
    const block = Buffer.concat([
      count,
      ...[...headers].flatMap(([name, value]) => [text(name.toLowerCase()), text(value)]),
    ]);
    if (block.length > STORED_BYTES_MAX) throw broken('too long to send');
    const head = Buffer.alloc(5);
    head.writeUInt16LE(block.length, 1);
    head.writeUInt16LE(block.length ^ 0xffff, 3);
    const parts = this.#isBegun ? [head, block, FLUSH] : [ZLIB_HEAD, head, block, FLUSH];
    this.#isBegun = true;
    return Buffer.concat(parts);
  }
}

/** Undefined while bytes are missing: the block says its own length. */
const parseBlock = (bytes: Buffer): Map<string, string> | undefined => {
  let at = 0;
  const number = (): number | undefined => {
    if (at + 4 > bytes.length) return undefined;
    at += 4;
    return bytes.readUInt32BE(at - 4);
  };
  const string = (): string | undefined => {
    const length = number();
    if (length === undefined) return undefined;
    if (length > HEADERS_BYTES_MAX) throw broken('a name or value is too long');
    if (at + length > bytes.length) return undefined;
    at += length;
    return bytes.toString('latin1', at - length, at);
  };
  const count = number();
  if (count === undefined) return undefined;
  if (count > HEADERS_COUNT_MAX) throw broken('too many');
  const headers = new Map<string, string>();
  for (let i = 0; i < count; i += 1) {
    const name = string();
    const value = name === undefined ? undefined : string();
    if (name === undefined || value === undefined) return undefined;
    headers.set(name.toLowerCase(), value);
  }
  return headers;
};

/** Header blocks on their way in: one compression state for the whole connection, so one block at a time. */
export class HeaderDecoder {
  readonly #inflate: Inflate = createInflate({ dictionary: SPDY_DICTIONARY });
  #chunks: Buffer[] = [];
  #size = 0;
  #onChunk: () => void = () => undefined;
  #onError: (error: Error) => void = () => undefined;

  constructor() {
    this.#inflate.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#size += chunk.length;
      this.#onChunk();
    });
    this.#inflate.on('error', (error) => this.#onError(error));
  }

  decode(block: Buffer): Promise<SpdyHeaders> {
    this.#chunks = [];
    this.#size = 0;
    return new Promise((resolve, reject) => {
      this.#onError = (error) => reject(broken(error.message));
      this.#onChunk = () => {
        try {
          if (this.#size > HEADERS_BYTES_MAX) throw broken('too long');
          const headers = parseBlock(Buffer.concat(this.#chunks));
          if (headers) resolve(headers);
        } catch (error) {
          reject(error as Error);
        }
      };
      this.#inflate.write(block);
    });
  }

  close(): void {
    this.#inflate.destroy();
  }
}
