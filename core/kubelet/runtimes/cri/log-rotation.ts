import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** Upstream's `containerLogMaxSize` and `containerLogMaxFiles`. */
export const LOG_LIMITS = { bytesMax: 10 * 2 ** 20, filesMax: 5 } as const;

export interface LogLimits {
  readonly bytesMax: number;
  /** With the one that is written to. */
  readonly filesMax: number;
}

export interface Rotation {
  readonly limits: LogLimits;
  readonly nowMs: number;
  /** Tells the runtime to open the file again. */
  reopen(): Promise<void>;
}

const COMPRESSED = '.gz';
const UNFINISHED = '.tmp';

/** `20260102-150405`, as upstream. */
const stampOf = (nowMs: number): string =>
  new Date(nowMs).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);

const compress = async (path: string): Promise<void> => {
  const draft = `${path}${UNFINISHED}`;
  await pipeline(createReadStream(path), createGzip(), createWriteStream(draft, { mode: 0o640 }));
  await rename(draft, `${path}${COMPRESSED}`);
  await rm(path, { force: true });
};

/** The files that earlier rotations have left, oldest first. */
const rotatedOf = async (path: string): Promise<readonly string[]> => {
  const name = basename(path);
  const files = (await readdir(dirname(path))).filter((file) => file.startsWith(`${name}.`)).sort();
  const kept: string[] = [];
  for (const file of files)
    // What was cut off in the middle is done again.
    if (file.endsWith(UNFINISHED) || files.includes(`${file}${COMPRESSED}`))
      await rm(join(dirname(path), file), { force: true });
    else kept.push(join(dirname(path), file));
  return kept;
};

/**
 * Rotates a log that has become too long: what was rotated before is compressed, the oldest goes, and the runtime continues
 * in a new file. When it cannot open one, the file gets its name back, so that nothing is lost. True: it was rotated.
 */
export const rotateLog = async (path: string, { limits, nowMs, reopen }: Rotation): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined);
  if (!found || found.size < limits.bytesMax) return false;
  const rotated = await rotatedOf(path);
  // Beside them stay the current file and the one that is rotated now.
  const staying = rotated.slice(Math.max(0, rotated.length - (limits.filesMax - 2)));
  for (const file of rotated) if (!staying.includes(file)) await rm(file, { force: true });
  for (const file of staying) if (!file.endsWith(COMPRESSED)) await compress(file);
  const next = `${path}.${stampOf(nowMs)}`;
  await rename(path, next);
  try {
    await reopen();
  } catch (error) {
    await rename(next, path);
    throw error;
  }
  return true;
};

/** All that is left of one log. */
export const removeLog = async (path: string): Promise<void> => {
  for (const file of [path, ...(await rotatedOf(path).catch(() => []))]) await rm(file, { force: true });
};
