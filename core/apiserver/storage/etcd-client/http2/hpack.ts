import { H2_ERROR, ProtocolBreach } from './frame.ts';
import { huffmanDecode } from './huffman.ts';

/** RFC 7541, appendix A: `name` or `name=value`, from index 1. */
const STATIC_TABLE = (
  ':authority|:method=GET|:method=POST|:path=/|:path=/index.html|:scheme=http|:scheme=https|:status=200|' +
  ':status=204|:status=206|:status=304|:status=400|:status=404|:status=500|accept-charset|' +
  'accept-encoding=gzip, deflate|accept-language|accept-ranges|accept|access-control-allow-origin|age|allow|' +
  'authorization|cache-control|content-disposition|content-encoding|content-language|content-length|' +
  'content-location|content-range|content-type|cookie|date|etag|expect|expires|from|host|if-match|' +
  'if-modified-since|if-none-match|if-range|if-unmodified-since|last-modified|link|location|max-forwards|' +
  'proxy-authenticate|proxy-authorization|range|referer|refresh|retry-after|server|set-cookie|' +
  'strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate'
)
  .split('|')
  .map((entry): readonly [string, string] => {
    const equals = entry.indexOf('=');
    return equals < 0 ? [entry, ''] : [entry.slice(0, equals), entry.slice(equals + 1)];
  });

const INTEGER_MAX = 1 << 24;
/** Blocks seen before are answered from here; a server ends most calls with the same few bytes. */
const KNOWN_BLOCKS_MAX = 256;
const KNOWN_BLOCK_BYTES_MAX = 256;

const broken = (what: string): ProtocolBreach =>
  new ProtocolBreach(`hpack: ${what}`, H2_ERROR.compressionError);

class BlockReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** Undefined for a table size update, which says nothing: the table is empty. */
  field(): readonly [string, string] | undefined {
    const first = this.#bytes[this.#at]!;
    if (first & 0x80) return this.#entry(this.#integer(7));
    if (first & 0x40) return this.#literal(6);
    if ((first & 0x20) === 0) return this.#literal(4);
    if (this.#integer(5) !== 0) throw broken('the table was promised to stay empty');
    return undefined;
  }

  #literal(prefixBits: number): readonly [string, string] {
    const index = this.#integer(prefixBits);
    const name = index === 0 ? this.#string() : this.#entry(index)[0];
    return [name, this.#string()];
  }

  #entry(index: number): readonly [string, string] {
    const entry = STATIC_TABLE[index - 1];
    if (entry === undefined) throw broken('index is outside the static table');
    return entry;
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
    const huffman = ((this.#bytes[this.#at] ?? 0) & 0x80) !== 0;
    const length = this.#integer(7);
    const end = this.#at + length;
    if (end > this.#bytes.length) throw broken('string runs over the block');
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    const text = huffman ? huffmanDecode(bytes) : Buffer.from(bytes).toString('latin1');
    if (text === undefined) throw broken('string is no Huffman code');
    return text;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw broken('block is cut short');
    this.#at += 1;
    return byte;
  }
}

export type Headers = ReadonlyMap<string, string>;

/**
 * Reads header blocks of a peer that was told to keep no table (SETTINGS_HEADER_TABLE_SIZE 0). A block then means
 * the same whenever it comes, so the few that a server sends over and over are decoded once.
 */
export class StatelessHpackDecoder {
  readonly #known = new Map<string, Headers>();

  decode(block: Buffer): Headers {
    const id = block.length <= KNOWN_BLOCK_BYTES_MAX ? block.toString('latin1') : undefined;
    const known = id === undefined ? undefined : this.#known.get(id);
    if (known !== undefined) return known;
    const reader = new BlockReader(block);
    const headers = new Map<string, string>();
    while (!reader.done) {
      const field = reader.field();
      if (field !== undefined) headers.set(field[0], field[1]);
    }
    if (id !== undefined && this.#known.size < KNOWN_BLOCKS_MAX) this.#known.set(id, headers);
    return headers;
  }
}

const integer = (value: number, prefixBits: number, pattern: number): number[] => {
  const mask = (1 << prefixBits) - 1;
  if (value < mask) return [pattern | value];
  const bytes = [pattern | mask];
  let rest = value - mask;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return bytes;
};

const text = (value: string): Buffer => {
  const bytes = Buffer.from(value, 'latin1');
  return Buffer.concat([Buffer.from(integer(bytes.length, 7, 0)), bytes]);
};

/** A header block that touches no table: encoded once, sent on any connection any number of times. */
export const encodeHeaders = (fields: readonly (readonly [name: string, value: string])[]): Buffer =>
  Buffer.concat(
    fields.map(([name, value]) => {
      const whole = STATIC_TABLE.findIndex((entry) => entry[0] === name && entry[1] === value);
      if (whole >= 0 && value !== '') return Buffer.from(integer(whole + 1, 7, 0x80));
      const index = STATIC_TABLE.findIndex((entry) => entry[0] === name);
      return index < 0
        ? Buffer.concat([Buffer.from([0]), text(name), text(value)])
        : Buffer.concat([Buffer.from(integer(index + 1, 4, 0)), text(value)]);
    }),
  );
