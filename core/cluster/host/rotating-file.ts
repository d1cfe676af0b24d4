import { createWriteStream, renameSync, statSync, type WriteStream } from 'node:fs';
import { messageOf } from '../../base/errors.ts';

export const LOG_BYTES_MAX = 4 * 1024 * 1024;
const LOG_MODE = 0o600;

export interface TextSink {
  write(text: string): void;
  close(): void;
}

const sizeOf = (path: string): number => {
  try {
    return statSync(path).size;
  } catch {
    // Not there yet.
    return 0;
  }
};

/** Appends to a file; once it is full it becomes `<path>.1` in place of the one before. Never throws. */
export const rotatingFile = (path: string, bytesMax: number = LOG_BYTES_MAX): TextSink => {
  let bytes = sizeOf(path);
  let problem: string | undefined;
  const open = (): WriteStream => {
    const stream = createWriteStream(path, { flags: 'a', mode: LOG_MODE });
    // A full disk costs the log, not the component.
    stream.on('error', (error) => (problem = messageOf(error)));
    return stream;
  };
  let stream = open();
  return {
    write(text) {
      bytes += Buffer.byteLength(text);
      if (problem !== undefined) return;
      stream.write(text);
      if (bytes < bytesMax) return;
      stream.end();
      try {
        renameSync(path, `${path}.1`);
      } catch (error) {
        problem = messageOf(error);
        return;
      }
      bytes = 0;
      stream = open();
    },
    close: () => void stream.end(),
  };
};
