import { ReasonError } from '../../errors.ts';

/** Protobuf's encoding: fields of a number and a wire type, in any order. */
export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
export const FIXED32 = 5;

export const malformedMessage = (what: string): ReasonError<'BodyMalformed'> =>
  new ReasonError('BodyMalformed', `proto: ${what}`);

const VARINT_BYTES_MAX = 10;
const TWO_63 = 2n ** 63n;
const TWO_64 = 2n ** 64n;

/** One field as it stands; which of the values is meant follows from the wire type. */
export interface WireField {
  readonly number: number;
  readonly wireType: number;
  /** Of VARINT; as the signed 64-bit number that it is. */
  readonly integer: number;
  /** The same where a number cannot hold it. */
  readonly exact: bigint | undefined;
  /** Of the others. Shares the memory of the message. */
  readonly bytes: Uint8Array;
}

const EMPTY = new Uint8Array();

/** Reads a message from front to back. */
export class WireReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  #exact: bigint | undefined;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  next(): WireField {
    const tag = this.varint();
    const number = Math.floor(tag / 8);
    const wireType = tag % 8;
    if (number < 1) throw malformedMessage('illegal tag 0 (wire type 0)');
    switch (wireType) {
      case VARINT:
        return { number, wireType, integer: this.varint(), exact: this.#exact, bytes: EMPTY };
      case FIXED64:
        return { number, wireType, integer: 0, exact: undefined, bytes: this.#take(8) };
      case BYTES:
        return { number, wireType, integer: 0, exact: undefined, bytes: this.#take(this.varint()) };
      case FIXED32:
        return { number, wireType, integer: 0, exact: undefined, bytes: this.#take(4) };
      default:
        throw malformedMessage(`illegal wireType ${wireType}`);
    }
  }

  varint(): number {
    let low = 0;
    this.#exact = undefined;
    // Four bytes hold 28 bits, which 32-bit arithmetic can still shift; longer numbers are rare.
    for (let count = 0; count < 4; count += 1) {
      const byte = this.#byte();
      low |= (byte & 0x7f) << (7 * count);
      if (byte < 0x80) return low;
    }
    let value = BigInt(low);
    for (let count = 4; count < VARINT_BYTES_MAX; count += 1) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << BigInt(7 * count);
      if (byte < 0x80) return this.#long(value >= TWO_63 ? value - TWO_64 : value);
    }
    throw malformedMessage('integer overflow');
  }

  #long(value: bigint): number {
    const rounded = Number(value);
    if (!Number.isSafeInteger(rounded)) this.#exact = value;
    return rounded;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw malformedMessage('unexpected EOF');
    this.#at += 1;
    return byte;
  }

  #take(length: number): Uint8Array {
    if (length < 0 || this.#at + length > this.#bytes.length) throw malformedMessage('unexpected EOF');
    const taken = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return taken;
  }
}
