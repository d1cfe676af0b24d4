import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { Disposable } from '../../core/base/disposable.ts';

const LOG_BYTES_MAX = 4 * 1024 * 1024;
const LOG_MODE = 0o600;

/** A log file that keeps one predecessor: at most twice `LOG_BYTES_MAX` on disk. */
export interface LogFile extends Disposable {
  readonly path: string;
  readonly stream: Writable;
}

/**
 * Writes synchronously: lines are few, and the last one before an exit is the one that matters. A disk that is full
 * must not end the app, so a line that cannot be written goes to standard error.
 */
export const openLogFile = (directory: string, bytesMax = LOG_BYTES_MAX): LogFile => {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, 'desktop.log');
  let file = openSync(path, 'a', LOG_MODE);
  let bytes = fstatSync(file).size;
  let open = true;

  const rotate = (): void => {
    closeSync(file);
    renameSync(path, `${path}.1`);
    file = openSync(path, 'a', LOG_MODE);
    bytes = 0;
  };

  const stream = new Writable({
    decodeStrings: true,
    write(chunk: Buffer, _encoding, done) {
      try {
        if (bytes > 0 && bytes + chunk.byteLength > bytesMax) rotate();
        bytes += writeSync(file, chunk);
      } catch {
        process.stderr.write(chunk);
      }
      done();
    },
  });

  return {
    path,
    stream,
    dispose() {
      if (!open) return;
      open = false;
      stream.destroy();
      closeSync(file);
    },
  };
};
