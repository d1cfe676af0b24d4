import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { GZIP_BYTES_MIN } from '../server/response.ts';
import type { ApiResponse } from '../server/response.ts';

/** Parts are gathered into chunks of about this size: few writes, and never one giant buffer. */
const CHUNK_BYTES = 256 * 1024;
/** Other requests get their turn after so many chunks. */
const CHUNKS_PER_TURN = 4;
const GZIP_LEVEL = 1;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function* chunksOf(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void, void> {
  let gathered: Uint8Array[] = [];
  let bytes = 0;
  let chunks = 0;
  for (const part of parts) {
    gathered.push(part);
    bytes += part.byteLength;
    if (bytes < CHUNK_BYTES) continue;
    yield Buffer.concat(gathered, bytes);
    gathered = [];
    bytes = 0;
    chunks += 1;
    if (chunks % CHUNKS_PER_TURN === 0) await turn();
  }
  if (bytes > 0) yield Buffer.concat(gathered, bytes);
}

/** Sends a document that is made of many parts, without ever holding it as a whole. */
export const writeDocument = async (
  response: ApiResponse,
  { code, contentType }: { readonly code: number; readonly contentType: string },
  parts: readonly Uint8Array[],
): Promise<void> => {
  let totalBytes = 0;
  for (const part of parts) totalBytes += part.byteLength;
  if (totalBytes <= CHUNK_BYTES) {
    await response.send(code, contentType, Buffer.concat(parts, totalBytes));
    return;
  }
  response.setHeader('content-type', contentType);
  if (response.acceptsGzip && totalBytes > GZIP_BYTES_MIN) {
    response.setHeader('content-encoding', 'gzip');
    response.addHeader('vary', 'Accept-Encoding');
    response.begin(code);
    await writeCompressed(response, parts);
    response.countBody(totalBytes);
  } else {
    response.setHeader('content-length', String(totalBytes));
    response.begin(code);
    for await (const chunk of chunksOf(parts)) await response.write(chunk);
  }
  await response.end();
};

const writeCompressed = (response: ApiResponse, parts: readonly Uint8Array[]): Promise<void> =>
  pipeline(
    chunksOf(parts),
    createGzip({ level: GZIP_LEVEL }),
    async (compressed: AsyncIterable<Uint8Array>) => {
      for await (const chunk of compressed) await response.write(chunk);
    },
  );
