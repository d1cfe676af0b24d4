import {
  BLOCK_BYTES,
  damaged,
  decodeHeader,
  isZeroBlock,
  paddingOf,
  TarError,
  type MetaFlag,
  type TarEntry,
} from './header.ts';

/** Long names and extended headers; no file system has longer paths. */
export const META_BYTES_MAX = 64 * 1024;

export type TarPart =
  | { readonly part: 'entry'; readonly entry: TarEntry }
  /** Content of the entry before it, in order. */
  | { readonly part: 'content'; readonly bytes: Uint8Array }
  | { readonly part: 'entry-end' }
  | { readonly part: 'end' };

const META = new Set<string>(['L', 'K', 'x', 'g'] satisfies MetaFlag[]);

/** Records of an extended header: `LENGTH KEY=VALUE\n`. */
const paxRecords = (bytes: Buffer): Map<string, string> => {
  const records = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const space = bytes.indexOf(0x20, at);
    const length = space < 0 ? Number.NaN : Number(bytes.subarray(at, space).toString('latin1'));
    if (!Number.isInteger(length) || length <= space - at || at + length > bytes.length)
      throw damaged('an extended header is cut off');
    const record = bytes.subarray(space + 1, at + length - 1).toString();
    const equals = record.indexOf('=');
    if (equals > 0) records.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return records;
};

const sizeIn = (text: string): number => {
  const size = Number(text);
  if (!Number.isSafeInteger(size) || size < 0) throw damaged('its size is not a number');
  return size;
};

/**
 * Reads an archive as its bytes arrive, holding at most one header of it. Understands ustar, GNU's long names and
 * POSIX extended headers. Names are passed on as they are: a caller that writes them to a disk checks them.
 */
export class TarReader {
  #held: Buffer = Buffer.alloc(0);
  #state: 'header' | 'meta' | 'content' | 'padding' | 'end' = 'header';
  #left = 0;
  #padding = 0;
  #metaFlag = '';
  #meta: Buffer[] = [];
  #zeroBlocks = 0;
  #global = new Map<string, string>();
  #next = new Map<string, string>();

  /** Whether the end marker was read. */
  get isEnded(): boolean {
    return this.#state === 'end';
  }

  /** Whether the bytes so far stop inside an entry. */
  get isInside(): boolean {
    return this.#state === 'content' || this.#state === 'meta' || this.#held.length > 0;
  }

  /** TarError when the bytes are no archive. What follows the end marker is ignored, as tar pads its output. */
  *push(chunk: Uint8Array): Generator<TarPart, void, void> {
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    while (bytes.length > 0 && this.#state !== 'end') {
      if (this.#state === 'header') {
        const missing = BLOCK_BYTES - this.#held.length;
        const block = Buffer.concat([this.#held, bytes.subarray(0, missing)]);
        bytes = bytes.subarray(missing);
        if (block.length < BLOCK_BYTES) {
          this.#held = block;
          return;
        }
        this.#held = Buffer.alloc(0);
        yield* this.#header(block);
        continue;
      }
      const taken = bytes.subarray(0, this.#left);
      bytes = bytes.subarray(taken.length);
      this.#left -= taken.length;
      if (this.#state === 'meta') this.#meta.push(Buffer.from(taken));
      else if (this.#state === 'content' && taken.length > 0) yield { part: 'content', bytes: taken };
      if (this.#left === 0) yield* this.#finish();
    }
  }

  *#header(block: Buffer): Generator<TarPart, void, void> {
    if (isZeroBlock(block)) {
      this.#zeroBlocks += 1;
      if (this.#zeroBlocks < 2) return;
      this.#state = 'end';
      yield { part: 'end' };
      return;
    }
    this.#zeroBlocks = 0;
    const { flag, entry } = decodeHeader(block);
    if (META.has(flag)) {
      if (entry.sizeBytes > META_BYTES_MAX)
        throw new TarError('TooLarge', `a header of the archive is larger than ${META_BYTES_MAX} bytes`);
      this.#state = 'meta';
      this.#metaFlag = flag;
      this.#begin(entry.sizeBytes);
      if (this.#left === 0) yield* this.#finish();
      return;
    }
    const said = new Map([...this.#global, ...this.#next]);
    this.#next = new Map();
    const size = said.get('size');
    const mtime = Number(said.get('mtime'));
    const whole: TarEntry = {
      ...entry,
      name: said.get('path') ?? entry.name,
      target: said.get('linkpath') ?? entry.target,
      ...(size !== undefined && { sizeBytes: sizeIn(size) }),
      ...(said.has('mtime') && Number.isFinite(mtime) && { mtimeMs: mtime * 1000 }),
    };
    yield { part: 'entry', entry: whole };
    this.#state = 'content';
    this.#begin(whole.sizeBytes);
    if (this.#left === 0) yield* this.#finish();
  }

  #begin(sizeBytes: number): void {
    this.#left = sizeBytes;
    this.#padding = paddingOf(sizeBytes);
  }

  /** Content or padding is complete. */
  *#finish(): Generator<TarPart, void, void> {
    if (this.#state === 'content') yield { part: 'entry-end' };
    if (this.#state === 'meta') this.#takeMeta();
    if (this.#state === 'padding' || this.#padding === 0) {
      this.#state = 'header';
      return;
    }
    this.#state = 'padding';
    this.#left = this.#padding;
  }

  #takeMeta(): void {
    const bytes = Buffer.concat(this.#meta);
    this.#meta = [];
    const text = (): string =>
      bytes.subarray(0, bytes.indexOf(0) < 0 ? undefined : bytes.indexOf(0)).toString();
    if (this.#metaFlag === 'L') this.#next.set('path', text());
    else if (this.#metaFlag === 'K') this.#next.set('linkpath', text());
    else if (this.#metaFlag === 'g') this.#global = paxRecords(bytes);
    else for (const [key, value] of paxRecords(bytes)) this.#next.set(key, value);
  }
}
