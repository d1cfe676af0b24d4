export interface TarOptions {
  readonly mode: 'create' | 'extract' | 'list';
  /** `-`: standard input or output. */
  readonly archive: string;
  readonly isVerbose: boolean;
  /** `-m`: files are as new as their extraction. */
  readonly isTouching: boolean;
  /** Modes as in the archive; else without what the umask takes. */
  readonly keepsModes: boolean;
  /** `-O`: contents go to standard output. */
  readonly toOutput: boolean;
  readonly stripComponents: number;
  /** Each with the folder that a `-C` before it names. */
  readonly members: readonly { readonly folder: string; readonly name: string }[];
  /** The last `-C`. */
  readonly folder: string;
}

const LONG: Readonly<Record<string, string>> = {
  create: 'c',
  extract: 'x',
  get: 'x',
  list: 't',
  file: 'f',
  directory: 'C',
  verbose: 'v',
  touch: 'm',
  'to-stdout': 'O',
  'same-permissions': 'p',
  'preserve-permissions': 'p',
  'no-same-permissions': 'no-same-permissions',
  // Everything in a simulated container belongs to its user, and no file is a link or kept from being replaced.
  'no-same-owner': 'o',
  dereference: 'h',
  overwrite: 'o',
  'strip-components': 'strip',
};
const TAKES_VALUE = new Set(['f', 'C', 'strip']);

/** One option at a time, with its value: `cf -`, `-xmf - -C dir`, `--file=-`, `--directory dir`. */
function* spelled(args: readonly string[]): Generator<readonly [flag: string, value: string]> {
  const rest = [...args];
  // The first word may come without its dash.
  if (rest[0] !== undefined && !rest[0].startsWith('-')) rest[0] = `-${rest[0]}`;
  const next = (flag: string): string => {
    const value = rest.shift();
    if (value === undefined) throw new Error(`option requires an argument -- '${flag}'`);
    return value;
  };
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--') {
      for (const name of rest.splice(0)) yield ['name', name];
    } else if (word.startsWith('--')) {
      const [name = '', ...given] = word.slice(2).split('=');
      const flag = Object.hasOwn(LONG, name) ? LONG[name]! : undefined;
      if (flag === undefined) throw new Error(`unrecognized option '--${name}'`);
      const value = given.join('=');
      yield [flag, TAKES_VALUE.has(flag) && given.length === 0 ? next(name) : value];
    } else if (word.startsWith('-') && word !== '-') {
      const letters = word.slice(1);
      for (const [at, flag] of [...letters].entries()) {
        if (!'cxtfCvmOpoh'.includes(flag)) throw new Error(`invalid option -- '${flag}'`);
        if (!TAKES_VALUE.has(flag)) {
          yield [flag, ''];
          continue;
        }
        const attached = letters.slice(at + 1);
        // `-f-` and `-Cdir`; in `cfv -` the value is the next word, as in the old style.
        const isAttached = attached !== '' && !/^[cxtvmOpoh]+$/.test(attached);
        yield [flag, isAttached ? attached : next(flag)];
        if (isAttached) break;
      }
    } else yield ['name', word];
  }
}

/** Throws what tar says about options that this one does not have. */
export const tarOptions = (args: readonly string[], cwd: string): TarOptions => {
  const modes = new Set<TarOptions['mode']>();
  const members: { folder: string; name: string }[] = [];
  const flags = new Set<string>();
  let archive = '-';
  let folder = cwd;
  let stripComponents = 0;
  for (const [flag, value] of spelled(args)) {
    if (flag === 'c') modes.add('create');
    else if (flag === 'x') modes.add('extract');
    else if (flag === 't') modes.add('list');
    else if (flag === 'f') archive = value;
    else if (flag === 'C') folder = value.startsWith('/') ? value : `${folder}/${value}`;
    else if (flag === 'name') members.push({ folder, name: value });
    else if (flag === 'strip') stripComponents = Number(value);
    else flags.add(flag);
  }
  const [mode, other] = [...modes];
  if (mode === undefined || other !== undefined) throw new Error('must specify exactly one of -c, -x and -t');
  if (!Number.isInteger(stripComponents) || stripComponents < 0)
    throw new Error('invalid number of components to strip');
  return {
    mode,
    archive,
    folder,
    members,
    stripComponents,
    isVerbose: flags.has('v'),
    isTouching: flags.has('m'),
    keepsModes: !flags.has('no-same-permissions'),
    toOutput: flags.has('O'),
  };
};
