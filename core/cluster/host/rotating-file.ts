import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

export const LOG_BYTES_MAX = 4 * 1024 * 1024;
const LOG_MODE = 0o600;

export interface TextSink {
  write(text: string): void;
  close(): void;
}

/**
 * Appends to a file; once it is full it becomes `<path>.1` in place of the one before. Never throws: a full disk costs
 * the log, not who writes it. Written immediately, so that the last lines before a crash are there.
 */
export const rotatingFile = (path: string, bytesMax: number = LOG_BYTES_MAX): TextSink => {
  let file: number | undefined;
  let bytes = 0;
  const attempt = (run: () => void): void => {
    try {
      run();
    } catch {
      if (file !== undefined) closeSync(file);
      file = undefined;
    }
  };
  const open = (): void => {
    file = openSync(path, 'a', LOG_MODE);
    bytes = fstatSync(file).size;
  };
  attempt(open);
  return {
    write(text) {
      attempt(() => {
        if (file === undefined) return;
        bytes += writeSync(file, text);
        if (bytes < bytesMax) return;
        closeSync(file);
        file = undefined;
        renameSync(path, `${path}.1`);
        open();
      });
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
};
