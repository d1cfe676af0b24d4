import { messageOf } from '../../../../base/errors.ts';
import { FileError, type FileEntry } from './file-system.ts';
import { resolvePath, type Command, type Process } from './process.ts';

const split = (args: readonly string[]): { flags: string; names: string[] } => ({
  flags: args
    .filter((arg) => /^-[A-Za-z]+$/.test(arg))
    .join('')
    .replaceAll('-', ''),
  names: args.filter((arg) => !/^-[A-Za-z]+$/.test(arg)),
});

export const modeText = ({ isDirectory, mode }: FileEntry): string => {
  const bits = [6, 3, 0].map((shift) => {
    const part = (mode >> shift) & 7;
    return `${part & 4 ? 'r' : '-'}${part & 2 ? 'w' : '-'}${part & 1 ? 'x' : '-'}`;
  });
  return (isDirectory ? 'd' : '-') + bits.join('');
};

const longLine = (entry: FileEntry, process: Process): string => {
  const owner = process.host.user.name;
  const size = String(entry.sizeBytes).padStart(8);
  const time = new Date(entry.mtimeMs).toISOString().slice(0, 16).replace('T', ' ');
  return `${modeText(entry)}    1 ${owner.padEnd(8)} ${owner.padEnd(8)} ${size} ${time} ${entry.name}\n`;
};

const ls: Command = (process) => {
  const { flags, names } = split(process.args);
  const files = process.host.fileSystem;
  let status = 0;
  const targets = names.length === 0 ? ['.'] : names;
  for (const name of targets) {
    const path = resolvePath(process, name);
    if (!files.exists(path)) {
      process.err(`ls: ${name}: No such file or directory\n`);
      status = 1;
      continue;
    }
    if (targets.length > 1 && files.isDirectory(path))
      process.out(`${name === targets[0] ? '' : '\n'}${name}:\n`);
    const listed =
      files.isDirectory(path) && !flags.includes('d') ? files.list(path) : [{ ...files.stat(path), name }];
    const shown = listed.filter((entry) => flags.includes('a') || !entry.name.startsWith('.'));
    for (const entry of shown)
      process.out(flags.includes('l') ? longLine(entry, process) : `${entry.name}\n`);
  }
  return status;
};

/** Runs for each name; a failure is told under the command's name and does not stop the others. */
const forEachName = (
  process: Process,
  command: string,
  names: readonly string[],
  work: (path: string, name: string) => void,
): number => {
  let status = 0;
  for (const name of names) {
    try {
      work(resolvePath(process, name), name);
    } catch (error) {
      process.err(`${command}: ${messageOf(error)}\n`);
      status = 1;
    }
  }
  return status;
};

const touch: Command = (process) =>
  forEachName(process, 'touch', process.args, (path) => {
    if (!process.host.fileSystem.exists(path)) process.host.fileSystem.write(path, new Uint8Array());
  });

const mkdir: Command = (process) =>
  forEachName(process, 'mkdir', split(process.args).names, (path) =>
    process.host.fileSystem.makeDirectory(path),
  );

const rm: Command = (process) => {
  const { flags, names } = split(process.args);
  return forEachName(process, 'rm', names, (path, name) => {
    const files = process.host.fileSystem;
    if (!files.exists(path)) {
      if (!flags.includes('f')) throw new Error(`can't remove '${name}': No such file or directory`);
      return;
    }
    if (files.isDirectory(path) && !/[rR]/.test(flags)) throw new Error(`'${name}' is a directory`);
    files.remove(path);
  });
};

const cp: Command = (process) => {
  const { names } = split(process.args);
  const [from = '', to = ''] = names;
  return forEachName(process, 'cp', [from], (path) => {
    const files = process.host.fileSystem;
    const target = resolvePath(process, to);
    const base = path.slice(path.lastIndexOf('/') + 1);
    files.write(files.isDirectory(target) ? `${target}/${base}` : target, files.read(path));
  });
};

const FORMATS: Readonly<Record<string, (entry: FileEntry, path: string) => string>> = {
  a: ({ mode }) => mode.toString(8),
  u: ({ uid }) => String(uid),
  g: ({ gid }) => String(gid),
  s: ({ sizeBytes }) => String(sizeBytes),
  n: (_, path) => path,
  F: ({ isDirectory }) => (isDirectory ? 'directory' : 'regular file'),
};

const stat: Command = (process) => {
  const at = process.args.indexOf('-c');
  const format = at < 0 ? '%n %s %a' : (process.args[at + 1] ?? '');
  const names = process.args.filter((arg, index) => !arg.startsWith('-') && (at < 0 || index !== at + 1));
  return forEachName(process, 'stat', names, (path, name) => {
    const entry = process.host.fileSystem.stat(path);
    const text = format.replace(/%(.)/g, (match, key: string) => FORMATS[key]?.(entry, name) ?? match);
    process.out(`${text}\n`);
  });
};

const readlink: Command = (process) => {
  try {
    const [name = ''] = split(process.args).names;
    process.out(`${process.host.fileSystem.link(resolvePath(process, name))}\n`);
    return 0;
  } catch (error) {
    if (error instanceof FileError) return 1;
    throw error;
  }
};

const evaluate = (process: Process, args: readonly string[]): boolean => {
  const found = args.findIndex((arg) => arg !== '!');
  const negations = found < 0 ? args.length : found;
  return evaluatePlain(process, args.slice(negations)) !== (negations % 2 === 1);
};

const evaluatePlain = (process: Process, args: readonly string[]): boolean => {
  const files = process.host.fileSystem;
  const [first = '', second = '', third = ''] = args;
  if (args.length >= 3) {
    const [a, b] = [Number(first), Number(third)];
    const comparisons: Readonly<Record<string, boolean>> = {
      '=': first === third,
      '==': first === third,
      '!=': first !== third,
      '-eq': a === b,
      '-ne': a !== b,
      '-lt': a < b,
      '-le': a <= b,
      '-gt': a > b,
      '-ge': a >= b,
    };
    return Object.hasOwn(comparisons, second) && comparisons[second] === true;
  }
  const path = resolvePath(process, second);
  switch (first) {
    case '-e':
      return files.exists(path);
    case '-f':
      return files.exists(path) && !files.isDirectory(path);
    case '-d':
      return files.isDirectory(path);
    case '-r':
    case '-s':
      return files.exists(path) && (files.isDirectory(path) || files.read(path).length > 0);
    case '-n':
      return second !== '';
    case '-z':
      return second === '';
    default:
      return first !== '';
  }
};

const test: Command = (process) => Number(!evaluate(process, process.args));

const mount: Command = ({ host, out }) => {
  out('overlay on / type overlay (rw,relatime)\n');
  for (const { path, content, isReadOnly } of host.fileSystem.mounts)
    out(`tmpfs on ${path} type tmpfs (${isReadOnly || !content.isWritable ? 'ro' : 'rw'},relatime)\n`);
  return 0;
};

const df: Command = ({ host, out }) => {
  out('Filesystem           1K-blocks      Used Available Use% Mounted on\n');
  out('overlay                1048576     10240   1038336   1% /\n');
  for (const { path } of host.fileSystem.mounts)
    out(`tmpfs                  1048576         4   1048572   0% ${path}\n`);
  return 0;
};

export const fileCommands: Readonly<Record<string, Command>> = {
  ls,
  touch,
  mkdir,
  rm,
  cp,
  mount,
  df,
  test,
  stat,
  readlink,
  '[': (process) => test({ ...process, args: process.args.slice(0, -1) }),
  which: (process) => {
    for (const name of process.args) process.out(`/bin/${name}\n`);
    return 0;
  },
};
