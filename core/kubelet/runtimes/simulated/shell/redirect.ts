import { FileError, LAYER_BYTES_MAX } from './file-system.ts';
import { Pipe } from './pipe.ts';
import { readText, resolvePath, type ShellHost, type Streams } from './process.ts';
import type { Redirect } from './syntax.ts';
import { bytesOf } from './text-bytes.ts';

export interface Redirected {
  readonly streams: Streams;
  /** Writes what was gathered to its files. */
  close(): void;
}

/** Gathers what goes into a file; FileError `No space left on device` once no file could hold it. */
const gather = (
  path: string,
  isAppending: boolean,
  host: ShellHost,
): { readonly write: (text: string) => void; close(): void } => {
  const { fileSystem: files, budget } = host;
  const before = isAppending && files.exists(path) ? readText({ host }, path) : '';
  const chunks = [before];
  let length = before.length;
  let taken = 0;
  files.write(path, bytesOf(before));
  return {
    write(text) {
      if (path === '/dev/null') return;
      if (length + text.length > LAYER_BYTES_MAX) throw new FileError(path, 'No space left on device');
      budget.take(text.length);
      budget.charge(text.length);
      taken += text.length;
      length += text.length;
      chunks.push(text);
    },
    close() {
      budget.give(taken);
      taken = 0;
      files.write(path, bytesOf(chunks.join('')));
    },
  };
};

/** The streams of a command after its redirections, whose expanded targets are given in the same order. */
export const redirect = (
  redirects: readonly Redirect[],
  targets: readonly string[],
  streams: Streams,
  place: { readonly host: ShellHost; readonly cwd: string },
): Redirected => {
  let result = streams;
  const closers: (() => void)[] = [];
  for (const [index, { operator, descriptor }] of redirects.entries()) {
    const name = targets[index] ?? '';
    if (operator === '>&') {
      const write = name === '2' ? result.err : result.out;
      result = descriptor === 2 ? { ...result, err: write } : { ...result, out: write };
      continue;
    }
    const path = resolvePath(place, name);
    if (operator === '<') {
      const pipe = new Pipe();
      pipe.write(readText(place, path));
      pipe.end();
      result = { ...result, input: pipe };
      continue;
    }
    const { write, close } = gather(path, operator === '>>', place.host);
    closers.push(close);
    result = descriptor === 2 ? { ...result, err: write } : { ...result, out: write };
  }
  return { streams: result, close: () => closers.forEach((close) => close()) };
};
