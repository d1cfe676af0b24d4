const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;

const varintBytes = (value: number): number => {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes += 1;
  return bytes;
};

const writeVarint = (into: Uint8Array, at: number, value: number): number => {
  let next = at;
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) into[next++] = (rest % 0x80) | 0x80;
  into[next++] = rest;
  return next;
};

/** One protobuf message being written: the pieces are joined once, when its length is known. */
export class MessageWriter {
  readonly #pieces: Uint8Array[] = [];
  #bytes = 0;

  /** proto3 leaves empty strings out. */
  string(field: number, value: string | undefined): this {
    return value === undefined || value === '' ? this : this.bytes(field, Buffer.from(value));
  }

  strings(field: number, values: readonly string[] = []): this {
    for (const value of values) this.bytes(field, Buffer.from(value));
    return this;
  }

  bool(field: number, value: boolean | undefined): this {
    return value ? this.#head(field, VARINT, 1) : this;
  }

  integer(field: number, value: number | undefined): this {
    return value === undefined || value <= 0 ? this : this.#head(field, VARINT, value);
  }

  /** int64 and int32, which may be negative: two's complement in ten bytes. */
  signed(field: number, value: number | undefined): this {
    if (value === undefined || value >= 0) return this.integer(field, value);
    const piece = Buffer.allocUnsafe(varintBytes(field * 8) + 10);
    let at = writeVarint(piece, 0, field * 8 + VARINT);
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest >= 0x80n; rest >>= 7n) piece[at++] = Number(rest & 0x7fn) | 0x80;
    piece[at] = Number(rest);
    return this.#push(piece);
  }

  double(field: number, value: number | undefined): this {
    if (value === undefined || value === 0) return this;
    const piece = Buffer.allocUnsafe(varintBytes(field * 8) + 8);
    piece.writeDoubleLE(value, writeVarint(piece, 0, field * 8 + FIXED64));
    return this.#push(piece);
  }

  message(field: number, value: MessageWriter | undefined): this {
    if (!value) return this;
    this.#head(field, LENGTH_DELIMITED, value.#bytes);
    for (const piece of value.#pieces) this.#pieces.push(piece);
    this.#bytes += value.#bytes;
    return this;
  }

  bytes(field: number, value: Uint8Array): this {
    return this.#head(field, LENGTH_DELIMITED, value.byteLength).#push(value);
  }

  /** proto3 leaves empty bytes out. */
  optionalBytes(field: number, value: Uint8Array): this {
    return value.byteLength === 0 ? this : this.bytes(field, value);
  }

  /** `map<string, bytes>`: one message for each entry. */
  map(field: number, entries: ReadonlyMap<string, Uint8Array>): this {
    for (const [key, value] of entries)
      this.message(field, new MessageWriter().string(1, key).optionalBytes(2, value));
    return this;
  }

  /** `map<string, string>` */
  texts(field: number, entries: Readonly<Record<string, string>> = {}): this {
    for (const [key, value] of Object.entries(entries))
      this.message(field, new MessageWriter().string(1, key).string(2, value));
    return this;
  }

  finish(): Buffer {
    return Buffer.concat(this.#pieces, this.#bytes);
  }

  #head(field: number, wireType: number, value: number): this {
    const tag = field * 8 + wireType;
    // From the pool: an array of its own for each of some ten thousand heads would cost more than the document.
    const piece = Buffer.allocUnsafe(varintBytes(tag) + varintBytes(value));
    writeVarint(piece, writeVarint(piece, 0, tag), value);
    return this.#push(piece);
  }

  #push(piece: Uint8Array): this {
    this.#pieces.push(piece);
    this.#bytes += piece.byteLength;
    return this;
  }
}
