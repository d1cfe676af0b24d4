import { messageOf } from '../../../../base/errors.ts';
import { modeText } from './file-commands.ts';
import type { FileEntry } from './file-system.ts';
import { resolvePath, type Command, type Process } from './process.ts';

const DIRECTORY_BITS = 0o040000;
const FILE_BITS = 0o100000;
/** Names that one command is given, as `{} +` gathers them. */
const NAMES_PER_COMMAND_MAX = 1_024;

/** `*` and `?` alone, without backtracking over more than the last `*`: no pattern takes longer than its product. */
const matches = (name: string, pattern: string): boolean => {
  let [at, in_] = [0, 0];
  let [star, starAt] = [-1, 0];
  while (at < name.length) {
    if (pattern[in_] === '*') {
      [star, starAt] = [in_, at];
      in_ += 1;
    } else if (in_ < pattern.length && (pattern[in_] === '?' || pattern[in_] === name[at])) {
      at += 1;
      in_ += 1;
    } else if (star >= 0) {
      starAt += 1;
      [at, in_] = [starAt, star + 1];
    } else return false;
  }
  while (pattern[in_] === '*') in_ += 1;
  return in_ === pattern.length;
};

/** In the order of the command line: a test that fails keeps what is behind it from being done. */
type Step =
  | { readonly step: 'test'; readonly passes: (entry: FileEntry) => boolean }
  | { readonly step: 'print'; readonly end: string }
  | { readonly step: 'exec'; readonly words: readonly string[]; readonly isGathered: boolean };

interface Search {
  readonly roots: string[];
  depthMin: number;
  depthMax: number;
  readonly steps: Step[];
}

/** Throws what busybox says about arguments that it does not know. */
const parse = (args: readonly string[]): Search => {
  const firstTest = args.findIndex((arg) => arg.startsWith('-'));
  const end = firstTest < 0 ? args.length : firstTest;
  const roots = args.slice(0, end);
  const search: Search = {
    roots: roots.length === 0 ? ['.'] : roots,
    depthMin: 0,
    depthMax: Number.POSITIVE_INFINITY,
    steps: [],
  };
  for (let i = end; i < args.length; i += 1) {
    const arg = args[i]!;
    const value = (): string => {
      i += 1;
      const given = args[i];
      if (given === undefined) throw new Error(`${arg} requires an argument`);
      return given;
    };
    if (arg === '-mindepth') search.depthMin = Number(value());
    else if (arg === '-maxdepth') search.depthMax = Number(value());
    else if (arg === '-name') {
      const pattern = value();
      search.steps.push({ step: 'test', passes: ({ name }) => matches(name, pattern) });
    } else if (arg === '-type') {
      const type = value();
      const passes = ({ isDirectory }: FileEntry): boolean =>
        type === 'd' ? isDirectory : type === 'f' && !isDirectory;
      search.steps.push({ step: 'test', passes });
    } else if (arg === '-print') search.steps.push({ step: 'print', end: '\n' });
    else if (arg === '-print0') search.steps.push({ step: 'print', end: '\0' });
    else if (arg === '-exec') {
      const stop = args.findIndex((word, at) => at > i && (word === ';' || word === '+'));
      if (stop < 0) throw new Error('-exec requires an argument');
      const isGathered = args[stop] === '+';
      search.steps.push({ step: 'exec', words: args.slice(i + 1, stop), isGathered });
      i = stop;
    } else throw new Error(`unrecognized: ${arg}`);
  }
  if (search.steps.every(({ step }) => step === 'test')) search.steps.push({ step: 'print', end: '\n' });
  return search;
};

/** Every path below the roots, in the order of a walk. */
async function* walk(
  process: Process,
  search: Search,
  failed: (why: string) => void,
): AsyncGenerator<{ readonly path: string; readonly entry: FileEntry }> {
  const files = process.host.fileSystem;
  const pending = search.roots.map((path) => ({ path, depth: 0 })).reverse();
  for (let next = pending.pop(); next; next = pending.pop()) {
    await process.host.budget.step(process.signal);
    if (process.signal.aborted) return;
    const { path, depth } = next;
    const full = resolvePath(process, path);
    if (!files.exists(full)) {
      failed(`${path}: No such file or directory`);
      continue;
    }
    const entry = files.stat(full);
    if (depth >= search.depthMin) yield { path, entry };
    if (!entry.isDirectory || depth >= search.depthMax) continue;
    const prefix = path.endsWith('/') ? path : `${path}/`;
    for (const { name } of files.list(full).reverse())
      pending.push({ path: prefix + name, depth: depth + 1 });
  }
}

export const findWith =
  (commandNamed: (name: string) => Command | undefined): Command =>
  async (process) => {
    let status = 0;
    const failed = (why: string): void => {
      process.err(`find: ${why}\n`);
      status = 1;
    };
    const run = async (words: readonly string[], names: readonly string[]): Promise<void> => {
      const [name = '', ...args] = words.flatMap((word) => (word === '{}' ? names : [word]));
      const command = commandNamed(name);
      if (!command) return failed(`${name}: No such file or directory`);
      if ((await command({ ...process, args })) !== 0) status = 1;
    };
    let search: Search;
    try {
      search = parse(process.args);
    } catch (error) {
      failed(messageOf(error));
      return status;
    }
    const gathered = new Map<Step, string[]>();
    const take = async (step: Exclude<Step, { step: 'test' }>, path: string): Promise<void> => {
      if (step.step === 'print') return process.out(path + step.end);
      if (!step.isGathered) return run(step.words, [path]);
      const names = gathered.get(step) ?? [];
      gathered.set(step, names);
      names.push(path);
      if (names.length >= NAMES_PER_COMMAND_MAX) await run(step.words, names.splice(0));
    };
    for await (const { path, entry } of walk(process, search, failed))
      for (const step of search.steps) {
        if (step.step !== 'test') await take(step, path);
        else if (!step.passes(entry)) break;
      }
    for (const [step, names] of gathered)
      if (step.step === 'exec' && names.length > 0) await run(step.words, names);
    return status;
  };

const describe = (format: string, name: string, entry: FileEntry, { host }: Process): string => {
  const nameOf = (id: number): string =>
    id === 0 ? 'root' : id === host.user.uid ? host.user.name : 'UNKNOWN';
  const bits = (entry.isDirectory ? DIRECTORY_BITS : FILE_BITS) | entry.mode;
  const values: Readonly<Record<string, string>> = {
    n: name,
    N: `'${name}'`,
    s: String(entry.sizeBytes),
    f: bits.toString(16),
    a: entry.mode.toString(8),
    A: modeText(entry),
    F: entry.isDirectory ? 'directory' : entry.sizeBytes === 0 ? 'regular empty file' : 'regular file',
    Y: String(Math.floor(entry.mtimeMs / 1000)),
    y: new Date(entry.mtimeMs).toISOString().replace('T', ' ').replace('Z', ' +0000'),
    u: String(entry.uid),
    g: String(entry.gid),
    U: nameOf(entry.uid),
    G: nameOf(entry.gid),
    '%': '%',
  };
  return format.replace(/%(.)/g, (match, key: string) => values[key] ?? match);
};

const FORMAT_DEFAULT =
  '  File: %n\n  Size: %s\tType: %F\nAccess: (%a/%A)\tUid: %u/%U\tGid: %g/%G\nModify: %y';

export const stat: Command = (process) => {
  let format = FORMAT_DEFAULT;
  const names: string[] = [];
  for (let i = 0; i < process.args.length; i += 1) {
    const arg = process.args[i]!;
    if (arg === '-c') format = process.args[(i += 1)] ?? '';
    // There are no symbolic links to follow.
    else if (arg !== '-L' && arg !== '--') names.push(arg);
  }
  let status = 0;
  for (const name of names) {
    const path = resolvePath(process, name);
    const files = process.host.fileSystem;
    if (files.exists(path)) process.out(`${describe(format, name, files.stat(path), process)}\n`);
    else {
      process.err(`stat: can't stat '${name}': No such file or directory\n`);
      status = 1;
    }
  }
  return status;
};
