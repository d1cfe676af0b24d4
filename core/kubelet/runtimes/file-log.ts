import { open, stat, type FileHandle } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import type { ContainerLog, LogLine, LogReading } from './container-log.ts';
import { LogRecords, tailStart } from './cri-log-line.ts';

const CHUNK_BYTES = 64 * 1024;
/** A file that is followed is looked at in this rhythm. */
const FOLLOW_MS = 200;

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

const openIfThere = async (path: string): Promise<FileHandle | undefined> => {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};

/** Where the last lines of a file begin, found from its end. */
const tailOffset = async (file: FileHandle, count: number): Promise<number> => {
  const { size } = await file.stat();
  if (count === 0) return size;
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let wanted = count;
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - CHUNK_BYTES);
    const { bytesRead } = await file.read(chunk, 0, end - start, start);
    const { at, found } = tailStart(chunk.subarray(0, bytesRead), wanted);
    if (at !== undefined) return start + at;
    wanted -= found;
    end = start;
  }
  return 0;
};

/**
 * A log as container runtimes write it: one file a start, in the CRI's format. When the kubelet rotates it, the
 * runtime continues in a new file of the same name; a follower reads the old one to its end first.
 */
export class FileLog implements ContainerLog {
  readonly #path: string;
  readonly #clock: Clock;
  #isClosed = false;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  close(): void {
    this.#isClosed = true;
  }

  async *read({ tailLines, sinceMs, follow, signal }: LogReading): AsyncIterable<readonly LogLine[]> {
    const isWanted = ({ timeMs }: LogLine): boolean => sinceMs === undefined || timeMs >= sinceMs;
    let file = await openIfThere(this.#path);
    try {
      let position = file && tailLines !== undefined ? await tailOffset(file, tailLines) : 0;
      const records = new LogRecords();
      const chunk = Buffer.alloc(CHUNK_BYTES);
      while (!signal.aborted) {
        // Asked before the file is read: what was written before the exit is then still read.
        const isLast = this.#isClosed || !follow;
        const successor = file && follow ? await this.#successor(file) : undefined;
        for (;;) {
          const { bytesRead } = file ? await file.read(chunk, 0, CHUNK_BYTES, position) : { bytesRead: 0 };
          if (bytesRead === 0) break;
          position += bytesRead;
          const lines = records.push(chunk.subarray(0, bytesRead)).filter(isWanted);
          if (lines.length > 0) yield lines;
          if (signal.aborted) {
            await successor?.close();
            return;
          }
        }
        if (successor) {
          await file?.close();
          file = successor;
          position = 0;
          continue;
        }
        if (isLast) return;
        await this.#pause(signal);
        file ??= await openIfThere(this.#path);
      }
    } finally {
      await file?.close();
    }
  }

  /** The file that has taken the place of the one that is open. */
  async #successor(file: FileHandle): Promise<FileHandle | undefined> {
    try {
      const [mine, current] = await Promise.all([file.stat(), stat(this.#path)]);
      return mine.ino === current.ino ? undefined : await openIfThere(this.#path);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  #pause(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        timer.dispose();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = this.#clock.after(FOLLOW_MS, done);
      signal.addEventListener('abort', done, { once: true });
    });
  }
}
