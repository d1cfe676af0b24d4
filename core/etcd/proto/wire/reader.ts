import { MalformedError } from './malformed.ts';
import { WIRE } from './wire-type.ts';

/**
 * Deepest nesting of messages that is decoded. A txn inside a txn costs two levels, and etcd's default of 128
 * operations a txn allows 128 of them; the stack of one decode stays far below what a thread has.
 */
export const NESTED_MESSAGES_MAX = 300;

const EMPTY = new Uint8Array(0);
const TWO_TO_32 = 4294967296;

/** Two halves seen as one 64 bit integer (every platform we run on is little-endian): shifting bigints allocates four. */
const HALVES = new Uint32Array(2);
const SIGNED = new BigInt64Array(HALVES.buffer);
const UNSIGNED = new BigUint64Array(HALVES.buffer);

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * A cursor over one buffer. `bytes` are views of that buffer, not copies: what outlives the request must be
 * copied by anyone who keeps it, or a small key pins a whole network read.
 */
export class Reader {
  readonly #buffer: Uint8Array;
  /** Compiled decoders read and advance it; it never passes the end of the buffer. */
  position = 0;
  #low = 0;
  #high = 0;

  constructor(buffer: Uint8Array) {
    this.#buffer = buffer;
  }

  get length(): number {
    return this.#buffer.length;
  }

  /** A varint cut to 32 bits: tags, lengths, enums, bools. */
  uint32(): number {
    const first = this.#buffer[this.position];
    if (first !== undefined && first < 0x80) {
      this.position += 1;
      return first;
    }
    this.#varint64();
    return this.#low;
  }

  /** A number and wire type of a field: more than 32 bits are no tag, and must not pass for one when cut. */
  tag(): number {
    const first = this.#buffer[this.position];
    if (first !== undefined && first < 0x80) {
      this.position += 1;
      return first;
    }
    this.#varint64();
    if (this.#high !== 0) throw new MalformedError('illegal tag above 32 bits');
    return this.#low;
  }

  int32(): number {
    return this.uint32() | 0;
  }

  bool(): boolean {
    const first = this.#buffer[this.position];
    if (first !== undefined && first < 0x80) {
      this.position += 1;
      return first !== 0;
    }
    this.#varint64();
    return this.#low !== 0 || this.#high !== 0;
  }

  /**
   * int64 as a number, held at +-(2^53-1): revisions, versions, sizes. Clients do send math.MaxInt64 for "no
   * limit"; held at the edge it still compares as larger than anything that exists.
   */
  int64Number(): number {
    const first = this.#buffer[this.position];
    if (first !== undefined && first < 0x80) {
      this.position += 1;
      return first;
    }
    this.#varint64();
    if (this.#high === 0) return this.#low;
    const value = (this.#high | 0) * TWO_TO_32 + this.#low;
    if (value > Number.MAX_SAFE_INTEGER) return Number.MAX_SAFE_INTEGER;
    return value < -Number.MAX_SAFE_INTEGER ? -Number.MAX_SAFE_INTEGER : value;
  }

  /** uint64 as a number, held at 2^53-1: terms, indexes. */
  uint64Number(): number {
    this.#varint64();
    const value = this.#high * TWO_TO_32 + this.#low;
    return value > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : value;
  }

  int64(): bigint {
    const first = this.#buffer[this.position];
    if (first !== undefined && first < 0x80) {
      this.position += 1;
      return BigInt(first);
    }
    this.#varint64();
    HALVES[0] = this.#low;
    HALVES[1] = this.#high;
    return SIGNED[0]!;
  }

  uint64(): bigint {
    this.#varint64();
    HALVES[0] = this.#low;
    HALVES[1] = this.#high;
    return UNSIGNED[0]!;
  }

  bytes(): Uint8Array {
    const end = this.#lengthDelimited();
    const start = this.position;
    this.position = end;
    if (start === end) return EMPTY;
    return new Uint8Array(this.#buffer.buffer, this.#buffer.byteOffset + start, end - start);
  }

  string(): string {
    const bytes = this.bytes();
    try {
      return bytes.length === 0 ? '' : strictUtf8.decode(bytes);
    } catch (cause) {
      throw new MalformedError('string field contains invalid UTF-8', { cause });
    }
  }

  /** Where the nested message or packed list that starts here ends. */
  nestedEnd(depth: number): number {
    if (depth >= NESTED_MESSAGES_MAX) throw new MalformedError('message is nested too deeply');
    return this.#lengthDelimited();
  }

  /** Jumps over a field this version does not know; unknown fields are how newer clients stay compatible. */
  skip(tag: number, depth: number): void {
    if (tag >>> 3 === 0) throw new MalformedError(`illegal tag ${tag}`);
    switch (tag & 7) {
      case WIRE.varint:
        this.#varint64();
        return;
      case WIRE.fixed64:
        this.#advance(8);
        return;
      case WIRE.delimited:
        this.position = this.#lengthDelimited();
        return;
      case WIRE.groupStart:
        this.#skipGroup(tag >>> 3, depth + 1);
        return;
      case WIRE.fixed32:
        this.#advance(4);
        return;
      default:
        throw new MalformedError(`illegal wireType ${tag & 7}`);
    }
  }

  #skipGroup(number: number, depth: number): void {
    if (depth >= NESTED_MESSAGES_MAX) throw new MalformedError('message is nested too deeply');
    for (;;) {
      const tag = this.tag();
      if ((tag & 7) === WIRE.groupEnd) {
        if (tag >>> 3 !== number) throw new MalformedError('mismatched end of group');
        return;
      }
      this.skip(tag, depth);
    }
  }

  #lengthDelimited(): number {
    const first = this.#buffer[this.position];
    let length: number;
    if (first !== undefined && first < 0x80) {
      this.position += 1;
      length = first;
    } else {
      this.#varint64();
      // The high half matters: a length of 2^32 + 1 must not be taken for 1.
      if (this.#high !== 0) throw new MalformedError('length is out of range');
      length = this.#low;
    }
    const end = this.position + length;
    if (end > this.#buffer.length) throw new MalformedError('unexpected end of message');
    return end;
  }

  #advance(count: number): void {
    if (this.position + count > this.#buffer.length) throw new MalformedError('unexpected end of message');
    this.position += count;
  }

  #varint64(): void {
    const buffer = this.#buffer;
    const start = this.position;
    let low = 0;
    let high = 0;
    for (let index = 0; index < 10; index += 1) {
      const byte = buffer[start + index];
      if (byte === undefined) throw new MalformedError('unexpected end of message');
      const bits = byte & 0x7f;
      if (index < 4) low |= bits << (7 * index);
      else if (index === 4) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (7 * index - 32);
      if (byte < 0x80) {
        this.position = start + index + 1;
        this.#low = low >>> 0;
        this.#high = high >>> 0;
        return;
      }
    }
    throw new MalformedError('varint is longer than 64 bits');
  }
}
