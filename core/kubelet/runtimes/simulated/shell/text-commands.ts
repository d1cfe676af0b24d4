import { messageOf } from '../../../../base/errors.ts';
import { FileError } from './file-system.ts';
import { bounded } from './limits.ts';
import { pause, readText, resolvePath, type Command, type Process } from './process.ts';
import { bytesOf, textOf } from './text-bytes.ts';

const LINES_DEFAULT = 10;
/** `seq` and `yes` are cut off here: no one reads a million lines of a simulated container. */
const SEQUENCE_MAX = 100_000;
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  a: '\x07',
  e: '\x1b',
};

const unescape = (text: string): string =>
  text.replace(/\\(.)/g, (match, key: string) => ESCAPES[key] ?? match);

const readNames = async (process: Process, command: string, names: readonly string[]) => {
  if (names.length === 0) return { text: await process.input.readAll(), status: 0 };
  let text = '';
  let status = 0;
  for (const name of names) {
    try {
      text += name === '-' ? await process.input.readAll() : readText(process, resolvePath(process, name));
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      const why = messageOf(error).replace(resolvePath(process, name), name);
      process.err(`${command}: can't open '${name}': ${why.split(': ').at(-1)}\n`);
      status = 1;
    }
    bounded(text);
  }
  return { text, status };
};

const linesOf = (text: string): string[] => {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
};

const cat: Command = async (process) => {
  if (process.args.length > 0) {
    const { text, status } = await readNames(process, 'cat', process.args);
    process.out(text);
    return status;
  }
  for (let text = await process.input.readSome(); text !== undefined; text = await process.input.readSome()) {
    process.out(text);
    await process.ready?.();
  }
  return 0;
};

const echo: Command = ({ args, out }) => {
  const flags = /^-[neE]+$/.test(args[0] ?? '') ? args[0]! : '';
  const text = args.slice(flags === '' ? 0 : 1).join(' ');
  out((flags.includes('e') ? unescape(text) : text) + (flags.includes('n') ? '' : '\n'));
  return 0;
};

const printf: Command = ({ args, out }) => {
  const [format = '', ...values] = args;
  out(
    unescape(format).replace(/%[-0-9.]*([sdifx%])/g, (_, kind: string) => {
      if (kind === '%') return '%';
      const value = values.shift() ?? '';
      if (kind === 's') return value;
      return kind === 'x' ? Number(value).toString(16) : String(Number(value) || 0);
    }),
  );
  return 0;
};

interface Wanted {
  readonly lines: number;
  /** `-c`, which takes bytes in place of lines; of `tail` `+N` starts at the Nth. */
  readonly bytes: string | undefined;
  readonly names: string[];
  readonly follow: boolean;
}

const count = (args: readonly string[]): Wanted => {
  const names: string[] = [];
  let lines = LINES_DEFAULT;
  let bytes: string | undefined;
  let follow = false;
  for (let i = 0; i < args.length; i += 1) {
    const arg = args[i]!;
    if (arg === '-n') lines = Number(args[(i += 1)]);
    else if (/^-n?\d+$/.test(arg)) lines = Number(arg.replace(/^-n?/, ''));
    else if (arg === '-c') bytes = args[(i += 1)] ?? '';
    else if (/^-c\+?\d+$/.test(arg)) bytes = arg.slice(2);
    else if (arg === '-f' || arg === '-F') follow = true;
    else names.push(arg);
  }
  return { lines, bytes, names, follow };
};

/** Passes a range of the bytes of standard input on; `end` may be infinite. */
const passBytes = async (process: Process, start: number, end: number): Promise<number> => {
  let at = 0;
  while (at < end) {
    const text = await process.input.readSome();
    if (text === undefined) break;
    const bytes = bytesOf(text);
    const wanted = bytes.subarray(Math.max(0, start - at), Math.max(0, end - at));
    if (wanted.length > 0) process.out(textOf(wanted));
    at += bytes.length;
    await process.ready?.();
  }
  return 0;
};

const badNumber = (process: Process, command: string, text: string): number => {
  process.err(`${command}: invalid number '${text}'\n`);
  return 1;
};

const head: Command = async (process) => {
  const { lines, bytes, names } = count(process.args);
  if (bytes !== undefined) {
    if (!/^\d+$/.test(bytes)) return badNumber(process, 'head', bytes);
    if (names.length === 0) return passBytes(process, 0, Number(bytes));
    const { text, status } = await readNames(process, 'head', names);
    process.out(textOf(bytesOf(text).subarray(0, Number(bytes))));
    return status;
  }
  if (names.length > 0) {
    const { text, status } = await readNames(process, 'head', names);
    for (const line of linesOf(text).slice(0, lines)) process.out(`${line}\n`);
    return status;
  }
  for (let i = 0; i < lines; i += 1) {
    const line = await process.input.readLine();
    if (line === undefined) break;
    process.out(`${line}\n`);
  }
  return 0;
};

const tail: Command = async (process) => {
  const { lines, bytes, names, follow } = count(process.args);
  if (bytes !== undefined) {
    if (!/^\+?\d+$/.test(bytes)) return badNumber(process, 'tail', bytes);
    const isFromStart = bytes.startsWith('+');
    if (isFromStart && names.length === 0)
      return passBytes(process, Math.max(0, Number(bytes) - 1), Number.POSITIVE_INFINITY);
    const { text, status } = await readNames(process, 'tail', names);
    const whole = bytesOf(text);
    const start = isFromStart ? Math.max(0, Number(bytes) - 1) : Math.max(0, whole.length - Number(bytes));
    process.out(textOf(whole.subarray(start)));
    return status;
  }
  const { text, status } = await readNames(process, 'tail', names);
  for (const line of linesOf(text).slice(-lines)) process.out(`${line}\n`);
  // Following a file of a simulated container means to wait: `tail -f /dev/null` keeps many containers alive.
  if (follow) await pause(process, Number.POSITIVE_INFINITY);
  return status;
};

const grep: Command = async (process) => {
  const flags = process.args.filter((arg) => /^-[A-Za-z]+$/.test(arg)).join('');
  const [pattern = '', ...names] = process.args.filter((arg) => !/^-[A-Za-z]+$/.test(arg));
  const needle = flags.includes('i') ? pattern.toLowerCase() : pattern;
  const { text } = await readNames(process, 'grep', names);
  const found = linesOf(text).filter((line) => {
    const hay = flags.includes('i') ? line.toLowerCase() : line;
    return matches(hay, needle) !== flags.includes('v');
  });
  if (flags.includes('c')) process.out(`${found.length}\n`);
  else if (!flags.includes('q')) for (const line of found) process.out(`${line}\n`);
  return found.length > 0 ? 0 : 1;
};

/** Plain text with the anchors: a pattern from outside is never compiled, so none can run away. */
const matches = (line: string, pattern: string): boolean => {
  const starts = pattern.startsWith('^');
  const ends = pattern.endsWith('$');
  const text = pattern.slice(starts ? 1 : 0, ends ? -1 : undefined);
  if (starts && ends) return line === text;
  if (starts) return line.startsWith(text);
  return ends ? line.endsWith(text) : line.includes(text);
};

const wc: Command = async (process) => {
  const flags = process.args.filter((arg) => arg.startsWith('-')).join('');
  const { text, status } = await readNames(
    process,
    'wc',
    process.args.filter((arg) => !arg.startsWith('-')),
  );
  const counts: [string, number][] = [
    ['l', text.split('\n').length - 1],
    ['w', text.split(/\s+/).filter((word) => word !== '').length],
    ['c', bytesOf(text).length],
  ];
  const shown = counts.filter(([flag]) => flags === '' || flags.includes(flag)).map(([, value]) => value);
  process.out(`${shown.join(' ')}\n`);
  return status;
};

const seq: Command = ({ args, out }) => {
  const numbers = args.map(Number);
  const first = numbers.length > 1 ? numbers[0]! : 1;
  const step = numbers.length > 2 ? numbers[1]! : 1;
  const last = numbers.at(-1) ?? 0;
  for (let i = first, made = 0; step > 0 ? i <= last : i >= last; i += step) {
    if ((made += 1) > SEQUENCE_MAX) break;
    out(`${i}\n`);
  }
  return 0;
};

const sort: Command = async (process) => {
  const reverse = process.args.includes('-r');
  const { text, status } = await readNames(
    process,
    'sort',
    process.args.filter((arg) => !arg.startsWith('-')),
  );
  const lines = linesOf(text).sort();
  for (const line of reverse ? lines.reverse() : lines) process.out(`${line}\n`);
  return status;
};

export const textCommands: Readonly<Record<string, Command>> = {
  cat,
  echo,
  printf,
  head,
  tail,
  grep,
  wc,
  seq,
  sort,
  tee: async (process) => {
    const text = await process.input.readAll();
    process.out(text);
    for (const name of process.args) process.host.fileSystem.write(resolvePath(process, name), bytesOf(text));
    return 0;
  },
  base64: async (process) => {
    const isDecoding = process.args.some((arg) => arg === '-d' || arg === '--decode');
    const { text, status } = await readNames(
      process,
      'base64',
      process.args.filter((arg) => !arg.startsWith('-')),
    );
    process.out(isDecoding ? textOf(Buffer.from(text, 'base64')) : `${bytesOf(text).toString('base64')}\n`);
    return status;
  },
};
