import { ReasonError } from '../../errors.ts';
import { huffmanDecode } from './huffman.ts';
import { STATIC_TABLE } from './hpack-static.ts';

export interface HeaderField {
  readonly name: string;
  readonly value: string;
}

/** The peer's header block is no HPACK: the state both sides share is lost, and with it the connection. */
export class HpackError extends ReasonError<'Compression' | 'TooLarge'> {
  override readonly name = 'HpackError';
}

/** What SETTINGS_HEADER_TABLE_SIZE promises by default. */
const TABLE_BYTES_MAX = 4096;
/** RFC 7541, section 4.1: what an entry counts besides its characters. */
const ENTRY_OVERHEAD_BYTES = 32;
const INTEGER_MAX = 1 << 24;
/** RFC 9113, section 8.2.1: names are tokens in lower case; a colon begins the name of a pseudo header. */
const NAME = /^:?[!#$%&'*+\-.^_`|~0-9a-z]+$/;
/** What ends a line of HTTP/1.1, where a value may be passed on, and other controls but the tab. */
const VALUE_FORBIDDEN = /[\x00-\x08\x0a-\x1f\x7f]/;

/** Reads the header blocks of one connection, in order. */
export class HpackDecoder {
  readonly #listBytesMax: number;
  /** Newest first, as indexes count. */
  readonly #dynamic: HeaderField[] = [];
  #dynamicBytes = 0;
  readonly #tableBytesOffered: number;
  #tableBytesMax: number;
  /** Fields that no message may hold; they are remembered because the table may bring them back. */
  readonly #malformedFields = new WeakSet<HeaderField>();
  #isMalformed = false;
  #listBytes = 0;
  #hasMalformed = false;
  #block: Uint8Array = new Uint8Array(0);
  #position = 0;

  /** `tableBytesMax` is what our SETTINGS_HEADER_TABLE_SIZE offered; with 0 a block means the same whenever it comes. */
  constructor(options: { readonly listBytesMax: number; readonly tableBytesMax?: number }) {
    this.#listBytesMax = options.listBytesMax;
    this.#tableBytesOffered = options.tableBytesMax ?? TABLE_BYTES_MAX;
    this.#tableBytesMax = this.#tableBytesOffered;
  }

  /** Whether the last block had a name or a value with characters that RFC 9113, section 8.2.1, forbids. */
  get isMalformed(): boolean {
    return this.#isMalformed;
  }

  /** Of the last list, as SETTINGS_MAX_HEADER_LIST_SIZE counts: what it takes once it is decoded. */
  get listBytes(): number {
    return this.#listBytes;
  }

  decode(block: Uint8Array): HeaderField[] {
    this.#block = block;
    this.#position = 0;
    this.#isMalformed = false;
    const fields: HeaderField[] = [];
    let bytes = 0;
    while (this.#position < block.length) {
      const field = this.#field(fields.length === 0);
      if (field === undefined) continue;
      bytes += sizeOf(field);
      if (bytes > this.#listBytesMax) throw new HpackError('TooLarge', 'header list is too large');
      fields.push(field);
    }
    this.#listBytes = bytes;
    return fields;
  }

  #field(first: boolean): HeaderField | undefined {
    const byte = this.#block[this.#position]!;
    if (byte & 0x80) return this.#entry(this.#integer(7));
    if (byte & 0x40) {
      const field = this.#literal(6);
      this.#insert(field);
      return field;
    }
    if (byte & 0x20) {
      const size = this.#integer(5);
      if (size > this.#tableBytesOffered || !first) throw broken('table size update is not allowed here');
      this.#tableBytesMax = size;
      this.#evict(0);
      return undefined;
    }
    return this.#literal(4);
  }

  #literal(prefixBits: number): HeaderField {
    const index = this.#integer(prefixBits);
    const known = index === 0 ? undefined : this.#entry(index);
    const name = known ? known.name : this.#string();
    const field = { name, value: this.#string() };
    if ((!known && !NAME.test(name)) || VALUE_FORBIDDEN.test(field.value)) {
      this.#malformedFields.add(field);
      this.#hasMalformed = true;
      this.#isMalformed = true;
    }
    return field;
  }

  #entry(index: number): HeaderField {
    const field =
      index <= STATIC_TABLE.length ? STATIC_TABLE[index - 1] : this.#dynamic[index - STATIC_TABLE.length - 1];
    if (field === undefined) throw broken('index is outside the table');
    if (this.#hasMalformed && this.#malformedFields.has(field)) this.#isMalformed = true;
    return field;
  }

  #insert(field: HeaderField): void {
    const size = sizeOf(field);
    this.#evict(size);
    if (size > this.#tableBytesMax) return;
    this.#dynamic.unshift(field);
    this.#dynamicBytes += size;
  }

  #evict(incomingBytes: number): void {
    while (this.#dynamic.length > 0 && this.#dynamicBytes + incomingBytes > this.#tableBytesMax)
      this.#dynamicBytes -= sizeOf(this.#dynamic.pop()!);
  }

  #integer(prefixBits: number): number {
    const mask = (1 << prefixBits) - 1;
    let value = this.#byte() & mask;
    if (value < mask) return value;
    for (let shift = 0; shift <= 21; shift += 7) {
      const byte = this.#byte();
      value += (byte & 0x7f) << shift;
      if (value > INTEGER_MAX) break;
      if ((byte & 0x80) === 0) return value;
    }
    throw broken('integer is too large');
  }

  #string(): string {
    const huffman = ((this.#block[this.#position] ?? 0) & 0x80) !== 0;
    const length = this.#integer(7);
    const end = this.#position + length;
    if (end > this.#block.length) throw broken('string runs over the block');
    if (length > this.#listBytesMax) throw new HpackError('TooLarge', 'header list is too large');
    const bytes = this.#block.subarray(this.#position, end);
    this.#position = end;
    if (!huffman) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    const text = huffmanDecode(bytes);
    if (text === undefined) throw broken('string is no Huffman code');
    return text;
  }

  #byte(): number {
    const byte = this.#block[this.#position];
    if (byte === undefined) throw broken('block is cut short');
    this.#position += 1;
    return byte;
  }
}

const sizeOf = ({ name, value }: HeaderField): number => name.length + value.length + ENTRY_OVERHEAD_BYTES;
const broken = (what: string): HpackError => new HpackError('Compression', `hpack: ${what}`);

const STATIC_NAMES = new Map<string, number>();
const STATIC_VALUES = new Map<string, Map<string, number>>();
STATIC_TABLE.forEach(({ name, value }, index) => {
  if (!STATIC_NAMES.has(name)) STATIC_NAMES.set(name, index + 1);
  if (value === '') return;
  const values = STATIC_VALUES.get(name) ?? new Map<string, number>();
  STATIC_VALUES.set(name, values.set(value, index + 1));
});

/** Blocks are made here and then copied out: most are far smaller. */
const scratch = Buffer.allocUnsafe(16 * 1024);
/** What a field may take besides its characters: two lengths and an index, of at most five bytes each. */
const FIELD_OVERHEAD_BYTES = 16;

const putInteger = (
  to: Buffer,
  offset: number,
  value: number,
  prefix: { readonly bits: number; readonly pattern: number },
): number => {
  const mask = (1 << prefix.bits) - 1;
  if (value < mask) {
    to[offset] = prefix.pattern | value;
    return offset + 1;
  }
  let at = offset;
  to[at++] = prefix.pattern | mask;
  let rest = value - mask;
  for (; rest >= 0x80; rest >>>= 7) to[at++] = (rest & 0x7f) | 0x80;
  to[at++] = rest;
  return at;
};

const INDEXED = { bits: 7, pattern: 0x80 };
const NAME_INDEXED = { bits: 4, pattern: 0 };
const LENGTH = { bits: 7, pattern: 0 };

const putText = (to: Buffer, offset: number, text: string): number => {
  const at = putInteger(to, offset, text.length, LENGTH);
  return at + to.write(text, at, 'latin1');
};

/**
 * A header block that touches no table, so it may be encoded once and sent on any connection: what a unary
 * reply needs besides its message is two constants. Texts are bytes, one a character.
 */
export const encodeHeaders = (fields: readonly HeaderField[]): Buffer => {
  let bytesMax = 0;
  for (const { name, value } of fields) bytesMax += name.length + value.length + FIELD_OVERHEAD_BYTES;
  const block = bytesMax <= scratch.length ? scratch : Buffer.allocUnsafe(bytesMax);
  let at = 0;
  for (const { name, value } of fields) {
    const whole = STATIC_VALUES.get(name)?.get(value);
    if (whole !== undefined) {
      at = putInteger(block, at, whole, INDEXED);
      continue;
    }
    const index = STATIC_NAMES.get(name);
    if (index === undefined) {
      block[at++] = 0;
      at = putText(block, at, name);
    } else at = putInteger(block, at, index, NAME_INDEXED);
    at = putText(block, at, value);
  }
  return Buffer.from(block.subarray(0, at));
};
