import { open, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

const CHUNK_BYTES = 256 * 1024;
/** A line that is longer is no event of ours. */
const LINE_BYTES_MAX = 4 * 1024 * 1024;
const UNPACKED_BYTES_MAX = 256 * 1024 * 1024;
const NEWLINE = 0x0a;

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');

/** The lines of a file, last first. `onBytes` is told how much was read. */
export async function* backwardLines(
  path: string,
  onBytes: (count: number) => void,
): AsyncGenerator<string, void, void> {
  if (path.endsWith('.gz')) {
    const unpacked = await promisify(gunzip)(await readFile(path), { maxOutputLength: UNPACKED_BYTES_MAX });
    onBytes(unpacked.length);
    yield* [...linesOf(unpacked.toString('utf8'))].reverse();
    return;
  }
  const file = await open(path, 'r');
  try {
    let end = (await file.stat()).size;
    // Bytes of a line whose start is before the chunk.
    let rest = Buffer.alloc(0);
    while (end > 0) {
      const start = Math.max(0, end - CHUNK_BYTES);
      const chunk = Buffer.alloc(end - start);
      await file.read(chunk, 0, chunk.length, start);
      onBytes(chunk.length);
      const bytes = Buffer.concat([chunk, rest]);
      const firstBreak = start === 0 ? -1 : bytes.indexOf(NEWLINE);
      if (start > 0 && firstBreak < 0) rest = bytes.length > LINE_BYTES_MAX ? Buffer.alloc(0) : bytes;
      else {
        yield* [...linesOf(bytes.subarray(firstBreak + 1).toString('utf8'))].reverse();
        rest = bytes.subarray(0, Math.max(0, firstBreak));
      }
      end = start;
    }
  } finally {
    await file.close();
  }
}
