import { parseArgs, type ParseArgsConfig } from 'node:util';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { messageOf, ReasonError } from '../../core/base/errors.ts';
import { defaultDataDirectory } from '../ipc/handlers/data-directory.ts';

/** What a command is given of the world. */
export interface CommandContext {
  /** One line for the user, or for the program that reads us. */
  print(line: string): void;
  /** One line beside the output: progress, warnings. */
  note(line: string): void;
  /** Aborted by SIGINT and SIGTERM: close what is open and return. */
  readonly signal: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Calls back for every line typed, where there is a terminal. Returns what stops it. */
  onEnter(run: () => void): () => void;
}

/** A command parses its own arguments, because `component` takes upstream's flags as they are. */
export interface Command {
  /** The lines after `pilothouse <name>` in its help. */
  readonly usage: string;
  /** Resolves with the exit code. A thrown error becomes one line and code 1, a `Usage` one code 2. */
  run(args: readonly string[], context: CommandContext): Promise<number>;
}

export const EXIT_OK = 0;
export const EXIT_FAILURE = 1;
export const EXIT_USAGE = 2;

/** The user asked in a way that no command understands. */
export const usageError = (message: string, cause?: unknown): ReasonError<'Usage'> =>
  new ReasonError('Usage', message, { cause });

type Options = NonNullable<ParseArgsConfig['options']>;

const SHARED = {
  data: { type: 'string' },
  output: { type: 'string', short: 'o' },
} as const satisfies Options;

export interface Parsed<O extends Options> {
  readonly values: ReturnType<typeof parseArgs<{ options: O & typeof SHARED }>>['values'];
  readonly dataDirectory: string;
  readonly json: boolean;
}

/** Every command of ours takes `--data DIR` and `-o json`; none takes words it does not name. */
export const parseOptions = <O extends Options>(
  options: O,
  args: readonly string[],
  context: CommandContext,
): Parsed<O> => {
  let values: Parsed<O>['values'];
  try {
    const config = { options: { ...options, ...SHARED }, args: [...args], allowPositionals: false };
    ({ values } = parseArgs(config) as { values: Parsed<O>['values'] });
  } catch (error) {
    throw usageError(messageOf(error).split('. ')[0] ?? '', error);
  }
  const { data, output } = values as { data?: string; output?: string };
  if (output !== undefined && output !== 'json' && output !== 'text')
    throw usageError(`-o takes json or text, not "${output}"`);
  return {
    values,
    json: output === 'json',
    dataDirectory:
      data === undefined
        ? defaultDataDirectory({ platform: process.platform, home: homedir(), env: context.env })
        : resolve(context.cwd, data),
  };
};

/** The words before the first flag: `kill cp-1` of `kill cp-1 -o json`; and the rest. */
export const leadingWords = (
  args: readonly string[],
): { readonly words: readonly string[]; readonly rest: readonly string[] } => {
  const firstFlag = args.findIndex((arg) => arg.startsWith('-'));
  const count = firstFlag === -1 ? args.length : firstFlag;
  return { words: args.slice(0, count), rest: args.slice(count) };
};
