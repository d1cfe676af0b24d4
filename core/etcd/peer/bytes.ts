import { PeerError } from './transport.ts';

const SLAB_BYTES = 64 * 1024;
/** Smaller payloads are cheaper to copy than to hand to the socket as one more piece. */
const COPIED_BYTES_MAX = 4 * 1024;
const VARINT_BYTES_MAX = 8;
const VARINT_BITS = 7;
const VARINT_BASE = 128;
const UINT31_MAX = 0x7fffffff;

export const malformed = (what: string): PeerError => new PeerError('Malformed', `a peer sent ${what}`);

/**
 * Gathers bytes as a list of pieces for one gathered write. Large payloads become pieces of their own without
 * a copy, so they must not change until they are sent.
 */
export class ByteWriter {
  #slab = Buffer.allocUnsafe(SLAB_BYTES);
  #start = 0;
  #at = 0;
  #pieces: Buffer[] = [];
  #piecesBytes = 0;

  /** Bytes since the last `take`. */
  get length(): number {
    return this.#piecesBytes + this.#at - this.#start;
  }

  byte(value: number): void {
    this.#ensure(1);
    this.#slab[this.#at] = value;
    this.#at += 1;
  }

  /** Unsigned, up to 2^53-1. */
  varint(value: number): void {
    this.#ensure(VARINT_BYTES_MAX);
    let rest = value;
    while (rest > UINT31_MAX) {
      this.#slab[this.#at++] = (rest % VARINT_BASE) | VARINT_BASE;
      rest = Math.floor(rest / VARINT_BASE);
    }
    while (rest >= VARINT_BASE) {
      this.#slab[this.#at++] = (rest & (VARINT_BASE - 1)) | VARINT_BASE;
      rest >>>= VARINT_BITS;
    }
    this.#slab[this.#at++] = rest;
  }

  uint64(value: bigint): void {
    this.#ensure(8);
    this.#slab.writeBigUInt64BE(value, this.#at);
    this.#at += 8;
  }

  raw(data: Uint8Array): void {
    if (data.length <= COPIED_BYTES_MAX) {
      this.#ensure(data.length);
      this.#slab.set(data, this.#at);
      this.#at += data.length;
      return;
    }
    this.#cut();
    this.#pieces.push(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    this.#piecesBytes += data.length;
  }

  /** Length first. */
  bytes(data: Uint8Array): void {
    this.varint(data.length);
    this.raw(data);
  }

  text(text: string): void {
    this.bytes(Buffer.from(text));
  }

  /** Room for a length that is known only later; the returned function fills it in. */
  uint32Later(): (value: number) => void {
    this.#ensure(4);
    const slab = this.#slab;
    const at = this.#at;
    this.#at += 4;
    return (value) => void slab.writeUInt32BE(value, at);
  }

  take(): Buffer[] {
    this.#cut();
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#piecesBytes = 0;
    return pieces;
  }

  #ensure(count: number): void {
    if (this.#slab.length - this.#at >= count) return;
    this.#cut();
    this.#slab = Buffer.allocUnsafe(SLAB_BYTES);
    this.#start = 0;
    this.#at = 0;
  }

  #cut(): void {
    if (this.#at === this.#start) return;
    this.#pieces.push(this.#slab.subarray(this.#start, this.#at));
    this.#piecesBytes += this.#at - this.#start;
    this.#start = this.#at;
  }
}

/** Reads what ByteWriter wrote. Never past the end, and every count is checked against what is left. */
export class ByteReader {
  readonly #data: Buffer;
  #at = 0;

  constructor(data: Uint8Array) {
    this.#data = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  }

  get remaining(): number {
    return this.#data.length - this.#at;
  }

  byte(): number {
    const value = this.#data[this.#at];
    if (value === undefined) throw malformed('a message that ends too early');
    this.#at += 1;
    return value;
  }

  varint(): number {
    let byte = this.byte();
    if (byte < VARINT_BASE) return byte;
    let value = byte - VARINT_BASE;
    let scale = VARINT_BASE;
    for (let i = 1; i < VARINT_BYTES_MAX; i += 1) {
      byte = this.byte();
      value += (byte % VARINT_BASE) * scale;
      if (byte < VARINT_BASE) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        return value;
      }
      scale *= VARINT_BASE;
    }
    throw malformed('a number that is too large');
  }

  uint64(): bigint {
    const data = this.raw(8);
    return Buffer.from(data.buffer, data.byteOffset, data.byteLength).readBigUInt64BE(0);
  }

  /** How many items follow, each at least `itemBytesMin` long. */
  count(itemBytesMin: number): number {
    const count = this.varint();
    if (count * itemBytesMin > this.remaining) throw malformed('a list that is longer than its message');
    return count;
  }

  /** A view, not a copy. */
  raw(length: number): Uint8Array {
    if (length > this.remaining) throw malformed('a message that ends too early');
    const view = this.#data.subarray(this.#at, this.#at + length);
    this.#at += length;
    return view;
  }

  bytes(): Uint8Array {
    return this.raw(this.varint());
  }

  rest(): Uint8Array {
    return this.raw(this.remaining);
  }

  text(): string {
    const data = this.bytes();
    return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString();
  }

  end(): void {
    if (this.remaining > 0) throw malformed('a message with something behind its end');
  }
}
