import { HpackDecoder, HpackError, type HeaderField } from '../hpack.ts';
import { H2_ERROR } from '../frame.ts';
import { ProtocolBreach } from './protocol-breach.ts';

/** Blocks seen before are answered from here; a server ends most calls with the same few bytes. */
const KNOWN_BLOCKS_MAX = 256;
const KNOWN_BLOCK_BYTES_MAX = 256;
const LIST_BYTES_MAX = 64 * 1024;

export type Headers = ReadonlyMap<string, string>;

/**
 * Reads header blocks of a peer that was told to keep no table (SETTINGS_HEADER_TABLE_SIZE 0). A block then means
 * the same whenever it comes, so the few that a server sends over and over are decoded once.
 */
export class StatelessHpackDecoder {
  readonly #decoder = new HpackDecoder({ listBytesMax: LIST_BYTES_MAX, tableBytesMax: 0 });
  readonly #known = new Map<string, Headers>();

  decode(block: Buffer): Headers {
    const id = block.length <= KNOWN_BLOCK_BYTES_MAX ? block.toString('latin1') : undefined;
    const known = id === undefined ? undefined : this.#known.get(id);
    if (known !== undefined) return known;
    const headers = new Map(this.#fields(block).map(({ name, value }) => [name, value]));
    if (id !== undefined && this.#known.size < KNOWN_BLOCKS_MAX) this.#known.set(id, headers);
    return headers;
  }

  #fields(block: Buffer): HeaderField[] {
    try {
      return this.#decoder.decode(block);
    } catch (error) {
      if (error instanceof HpackError) throw new ProtocolBreach(error.message, H2_ERROR.compressionError);
      throw error;
    }
  }
}
