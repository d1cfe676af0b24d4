/** Protobuf as far as KMS v2 and its stored objects need it: varints, and fields of bytes. */
const VARINT = 0;
const BYTES = 2;
const VARINT_BYTES_MAX = 10;

export class MessageWriter {
  readonly #parts: Uint8Array[] = [];

  varint(field: number, value: number): this {
    if (value !== 0) this.#parts.push(varintOf(field * 8 + VARINT), varintOf(value));
    return this;
  }

  bytes(field: number, value: Uint8Array | string): this {
    const data = typeof value === 'string' ? Buffer.from(value) : value;
    if (data.length > 0) this.#parts.push(varintOf(field * 8 + BYTES), varintOf(data.length), data);
    return this;
  }

  /** `map<string, bytes>`: one message for each entry. */
  map(field: number, entries: ReadonlyMap<string, Uint8Array>): this {
    for (const [key, value] of entries)
      this.bytes(field, new MessageWriter().bytes(1, key).bytes(2, value).finish());
    return this;
  }

  finish(): Uint8Array {
    return Buffer.concat(this.#parts);
  }
}

const varintOf = (value: number): Uint8Array => {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? low | 128 : low);
  } while (rest > 0);
  return Uint8Array.from(bytes);
};

export interface Message {
  varint(field: number): number;
  bytes(field: number): Uint8Array;
  text(field: number): string;
  map(field: number): ReadonlyMap<string, Uint8Array>;
}

const malformed = (): Error => new Error('proto: cannot parse invalid wire-format data');

/** Fields of other types are passed over; of a field that comes twice the last counts, except in maps. */
export const readMessage = (data: Uint8Array): Message => {
  const numbers = new Map<number, number>();
  const values = new Map<number, Uint8Array[]>();
  let at = 0;
  const varint = (): number => {
    let [value, scale] = [0, 1];
    for (let count = 0; count < VARINT_BYTES_MAX; count += 1) {
      const byte = data[at];
      if (byte === undefined) throw malformed();
      at += 1;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
    throw malformed();
  };
  const skip = (length: number): Uint8Array => {
    if (at + length > data.length) throw malformed();
    at += length;
    return data.subarray(at - length, at);
  };
  while (at < data.length) {
    const tag = varint();
    const [field, type] = [Math.floor(tag / 8), tag % 8];
    if (type === VARINT) numbers.set(field, varint());
    else if (type === BYTES) values.set(field, [...(values.get(field) ?? []), skip(varint())]);
    else if (type === 1) skip(8);
    else if (type === 5) skip(4);
    else throw malformed();
  }
  const bytes = (field: number): Uint8Array => values.get(field)?.at(-1) ?? new Uint8Array();
  return {
    varint: (field) => numbers.get(field) ?? 0,
    bytes,
    text: (field) => Buffer.from(bytes(field)).toString('utf8'),
    map: (field) =>
      new Map(
        (values.get(field) ?? []).map((entry) => {
          const message = readMessage(entry);
          return [message.text(1), message.bytes(2)] as const;
        }),
      ),
  };
};
