const INITIAL_BYTES = 16 * 1024;
/** A scratch buffer grown beyond this by one huge message is let go again. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;
/** Longest tag plus longest length or value: what every field may need besides its payload. */
const FIELD_OVERHEAD_BYTES_MAX = 20;
/** Below this a byte loop beats the call into `TypedArray.set`. */
const LOOP_COPY_BYTES_MAX = 24;
const TWO_TO_32 = 4294967296;

/**
 * Writes a message from its last byte to its first. The length of a nested message is then known when its
 * prefix is due, so nothing is measured beforehand and every byte is written once.
 */
export class Writer {
  #buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  #position = INITIAL_BYTES;
  readonly #half = new Uint32Array(2);
  readonly #signed = new BigInt64Array(this.#half.buffer);

  /** Bytes written so far; stays valid when the buffer grows. */
  size(): number {
    return this.#buffer.length - this.#position;
  }

  /** Takes the message out, with `headroomBytes` of unset room in front of it for a frame header. */
  finish(headroomBytes: number): Buffer {
    const size = this.size();
    const result = Buffer.allocUnsafe(headroomBytes + size);
    this.#buffer.copy(result, headroomBytes, this.#position);
    this.reset();
    return result;
  }

  /** Forgets what was written; also what makes the writer usable again after an encoder threw. */
  reset(): void {
    if (this.#buffer.length > KEPT_BYTES_MAX) this.#buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
    this.#position = this.#buffer.length;
  }

  bytes(tag: number, value: Uint8Array): void {
    const length = value.length;
    this.#reserve(length);
    this.#position -= length;
    if (length <= LOOP_COPY_BYTES_MAX) {
      const buffer = this.#buffer;
      for (let index = 0, to = this.#position; index < length; index += 1, to += 1)
        buffer[to] = value[index]!;
    } else this.#buffer.set(value, this.#position);
    this.#uint32(length);
    this.#uint32(tag);
  }

  string(tag: number, value: string): void {
    const length = Buffer.byteLength(value);
    this.#reserve(length);
    this.#position -= length;
    this.#buffer.write(value, this.#position, length, 'utf8');
    this.#uint32(length);
    this.#uint32(tag);
  }

  bool(tag: number, value: boolean): void {
    this.#reserve(0);
    this.#buffer[(this.#position -= 1)] = value ? 1 : 0;
    this.#uint32(tag);
  }

  uint32(tag: number, value: number): void {
    this.#reserve(0);
    this.#uint32(value >>> 0);
    this.#uint32(tag);
  }

  /** A negative enum or int32 takes ten bytes, as if it were an int64. */
  int32(tag: number, value: number): void {
    this.int64Number(tag, value | 0);
  }

  int64Number(tag: number, value: number): void {
    this.#reserve(0);
    if (value >= 0 && value < TWO_TO_32) this.#uint32(value);
    else this.#halves(value >>> 0, Math.floor(value / TWO_TO_32) >>> 0);
    this.#uint32(tag);
  }

  int64(tag: number, value: bigint): void {
    this.#reserve(0);
    this.#signed[0] = value;
    this.#halves(this.#half[0]!, this.#half[1]!);
    this.#uint32(tag);
  }

  /** One element of a packed list: no tag of its own. */
  packedInt32(value: number): void {
    this.#reserve(0);
    if (value >= 0) this.#uint32(value);
    else this.#halves(value >>> 0, 0xffffffff);
  }

  /** Closes a nested message or packed list whose content was written since `size()` was `sizeBefore`. */
  close(tag: number, sizeBefore: number): void {
    this.#reserve(0);
    this.#uint32(this.size() - sizeBefore);
    this.#uint32(tag);
  }

  #halves(low: number, high: number): void {
    if (high === 0) {
      this.#uint32(low);
      return;
    }
    // Seven bits at a time from the top: the first byte written is the last one on the wire.
    const top = high >>> 31;
    let rest = high;
    const groups: number[] = HALVES_SCRATCH;
    groups[0] = low & 0x7f;
    groups[1] = (low >>> 7) & 0x7f;
    groups[2] = (low >>> 14) & 0x7f;
    groups[3] = (low >>> 21) & 0x7f;
    groups[4] = (low >>> 28) | ((rest & 0x07) << 4);
    rest >>>= 3;
    let last = 4;
    for (let index = 5; index < 9 && rest !== 0; index += 1) {
      groups[index] = rest & 0x7f;
      rest >>>= 7;
      last = index;
    }
    if (top === 1) {
      groups[9] = 1;
      last = 9;
    }
    const buffer = this.#buffer;
    let position = this.#position;
    buffer[(position -= 1)] = groups[last]!;
    for (let index = last - 1; index >= 0; index -= 1) buffer[(position -= 1)] = groups[index]! | 0x80;
    this.#position = position;
  }

  #uint32(value: number): void {
    const buffer = this.#buffer;
    if (value < 0x80) {
      buffer[(this.#position -= 1)] = value;
      return;
    }
    const length = value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5;
    let position = (this.#position -= length);
    let rest = value;
    while (rest >= 0x80) {
      buffer[position] = (rest & 0x7f) | 0x80;
      position += 1;
      rest >>>= 7;
    }
    buffer[position] = rest;
  }

  #reserve(payloadBytes: number): void {
    const needed = payloadBytes + FIELD_OVERHEAD_BYTES_MAX;
    if (needed <= this.#position) return;
    const size = this.size();
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, size + needed));
    this.#buffer.copy(grown, grown.length - size, this.#position);
    this.#position = grown.length - size;
    this.#buffer = grown;
  }
}

/** The groups of one varint; encoding never yields, so one is enough. */
const HALVES_SCRATCH: number[] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
