import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createGzip, gunzip, type Gzip } from 'node:zlib';

/** A document as it is kept: a tenth of its size. Clients that do not take gzip have it unpacked for them. */
export interface CompressedDocument {
  readonly gzipped: Buffer;
  /** Quoted: the hash of the content that it stands for. */
  readonly etag: string;
}

const unpack = promisify(gunzip);
const unpacking = new WeakMap<CompressedDocument, Promise<Buffer>>();
const unpacked = new WeakMap<CompressedDocument, WeakRef<Buffer>>();

/** One buffer for all who want it at a time, however slowly they take it; gone when the last of them is. */
export const unpackedText = (document: CompressedDocument): Promise<Buffer> => {
  const kept = unpacked.get(document)?.deref();
  if (kept) return Promise.resolve(kept);
  const known = unpacking.get(document);
  if (known) return known;
  const made = unpack(document.gzipped)
    .then((text) => {
      unpacked.set(document, new WeakRef(text));
      return text;
    })
    .finally(() => unpacking.delete(document));
  unpacking.set(document, made);
  return made;
};

/** What is written before others get their turn. */
const SLICE_CHARACTERS_MAX = 64 * 1024;
const GZIP_LEVEL = 6;

const collect = async (gzip: Gzip): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of gzip) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

async function* slicesOf(pieces: Iterable<string>): AsyncGenerator<Buffer> {
  let slice = '';
  for (const piece of pieces) {
    slice += piece;
    if (slice.length < SLICE_CHARACTERS_MAX) continue;
    yield Buffer.from(slice);
    slice = '';
    await nextTurn();
  }
  yield Buffer.from(slice);
}

/** Makes a document of pieces of text without ever having the whole of it, and without holding the event loop. */
export const compressText = async (pieces: Iterable<string>): Promise<CompressedDocument> => {
  const hash = createHash('sha512');
  const hashed = async function* (): AsyncGenerator<Buffer> {
    for await (const slice of slicesOf(pieces)) {
      hash.update(slice);
      yield slice;
    }
  };
  const gzipped = await collect(
    Readable.from(hashed(), { objectMode: false }).pipe(createGzip({ level: GZIP_LEVEL })),
  );
  return { gzipped, etag: `"${hash.digest('hex').toUpperCase()}"` };
};

/** As upstream, another form of a document has the tag of its JSON: `Vary: Accept` tells them apart. */
export const compressBytes = async (bytes: Uint8Array, etag: string): Promise<CompressedDocument> => {
  const gzip = createGzip({ level: GZIP_LEVEL });
  gzip.end(bytes);
  return { gzipped: await collect(gzip), etag };
};
