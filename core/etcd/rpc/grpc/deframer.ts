import { gunzipSync } from 'node:zlib';
import { messageOf } from '../../../base/errors.ts';
import { StatusError } from './status.ts';

/** One byte that says whether the message is compressed, four of length. */
export const MESSAGE_HEAD_BYTES = 5;

export interface DeframerOptions {
  readonly messageBytesMax: number;
  /** The request's grpc-encoding. */
  readonly encoding: string | undefined;
}

/** Puts messages together from pieces of a body, and never holds more than one message and its head. */
export class Deframer {
  readonly #options: DeframerOptions;
  #parts: Uint8Array[] = [];
  #heldBytes = 0;

  constructor(options: DeframerOptions) {
    this.#options = options;
  }

  /** True when the body stopped inside a message. */
  get partial(): boolean {
    return this.#heldBytes > 0;
  }

  /** Messages completed by this piece, as views where they came whole. Throws StatusError. */
  push(piece: Uint8Array): Uint8Array[] {
    const messages: Uint8Array[] = [];
    let bytes = piece;
    if (this.#heldBytes > 0) {
      this.#parts.push(piece);
      this.#heldBytes += piece.length;
      if (this.#heldBytes < this.#neededBytes()) return messages;
      bytes = Buffer.concat(this.#parts, this.#heldBytes);
      this.#parts = [];
      this.#heldBytes = 0;
    }
    let at = 0;
    while (bytes.length - at >= MESSAGE_HEAD_BYTES) {
      const length = this.#lengthAt(bytes, at);
      const end = at + MESSAGE_HEAD_BYTES + length;
      if (end > bytes.length) break;
      messages.push(this.#open(bytes[at]!, bytes.subarray(at + MESSAGE_HEAD_BYTES, end)));
      at = end;
    }
    if (at < bytes.length) {
      this.#parts = [bytes.subarray(at)];
      this.#heldBytes = bytes.length - at;
    }
    return messages;
  }

  #neededBytes(): number {
    const [first] = this.#parts;
    if (first === undefined || first.length >= MESSAGE_HEAD_BYTES)
      return MESSAGE_HEAD_BYTES + this.#lengthAt(first!, 0);
    if (this.#heldBytes < MESSAGE_HEAD_BYTES) return MESSAGE_HEAD_BYTES;
    // The head itself came in pieces: join them once, so that it can be read.
    this.#parts = [Buffer.concat(this.#parts, this.#heldBytes)];
    return MESSAGE_HEAD_BYTES + this.#lengthAt(this.#parts[0]!, 0);
  }

  #lengthAt(bytes: Uint8Array, at: number): number {
    const length =
      bytes[at + 1]! * 0x1000000 + (bytes[at + 2]! << 16) + (bytes[at + 3]! << 8) + bytes[at + 4]!;
    const max = this.#options.messageBytesMax;
    if (length > max)
      throw new StatusError(
        'ResourceExhausted',
        `grpc: received message larger than max (${length} vs. ${max})`,
      );
    return length;
  }

  #open(flag: number, payload: Uint8Array): Uint8Array {
    if (flag === 0) return payload;
    const { encoding, messageBytesMax } = this.#options;
    if (flag !== 1) throw new StatusError('Internal', `grpc: received unexpected payload format ${flag}`);
    if (encoding === undefined || encoding === 'identity')
      throw new StatusError('Internal', 'grpc: compressed flag set with identity or empty encoding');
    if (encoding !== 'gzip')
      throw new StatusError(
        'Unimplemented',
        `grpc: Decompressor is not installed for grpc-encoding "${encoding}"`,
      );
    try {
      return gunzipSync(payload, { maxOutputLength: messageBytesMax });
    } catch (cause) {
      if (cause instanceof RangeError)
        throw new StatusError(
          'ResourceExhausted',
          `grpc: received message after decompression larger than max ${messageBytesMax}`,
          { cause },
        );
      throw new StatusError(
        'Internal',
        `grpc: failed to decompress the received message: ${messageOf(cause)}`,
        {
          cause,
        },
      );
    }
  }
}
