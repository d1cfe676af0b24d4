import { parseDurationMs } from './duration.ts';
import { hasReason, ReasonError } from './errors.ts';

/** How the text of one flag becomes a value; throws a plain Error whose message follows the flag's name. */
export interface FlagKind<T> {
  readonly type: string;
  readonly parse: (text: string) => T;
  /** `--flag` alone means this; without it a value must follow. */
  readonly bare?: T;
}

export interface Flag<T> {
  readonly kind: FlagKind<T>;
  readonly default: T;
  readonly help: string;
  /** May be given more than once; `merge` joins what was there with what came. */
  merge?(before: T, next: T): T;
}

export type FlagTable = Readonly<Record<string, Flag<unknown>>>;
export type FlagValues<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Flag<infer T> ? T : never;
};

export interface ParsedFlags<Table> {
  readonly values: FlagValues<Table>;
  /** The flags that were given, as opposed to those that have their default. */
  readonly given: ReadonlySet<keyof Table & string>;
  readonly positional: readonly string[];
}

export type FlagFailure = 'UnknownFlag' | 'BadValue' | 'MissingValue';

export const text: FlagKind<string> = { type: 'string', parse: (value) => value };

export const boolean: FlagKind<boolean> = {
  type: 'bool',
  bare: true,
  parse(value) {
    if (['true', 't', 'T', 'TRUE', 'True', '1'].includes(value)) return true;
    if (['false', 'f', 'F', 'FALSE', 'False', '0'].includes(value)) return false;
    throw new Error('must be true or false');
  },
};

export const integer = (bounds: { min?: number; max?: number } = {}): FlagKind<number> => ({
  type: 'int',
  parse(value) {
    const number = /^[+-]?\d+$/.test(value) ? Number(value) : NaN;
    if (!Number.isSafeInteger(number)) throw new Error('must be an integer');
    if (number < (bounds.min ?? -Infinity)) throw new Error(`must be at least ${bounds.min}`);
    if (number > (bounds.max ?? Infinity)) throw new Error(`must be at most ${bounds.max}`);
    return number;
  },
});

export const durationMs: FlagKind<number> = {
  type: 'duration',
  parse(value) {
    const ms = parseDurationMs(value);
    if (ms === undefined) throw new Error('must be a duration such as 10s or 1h30m');
    return ms;
  },
};

export const oneOf = <const T extends string>(...choices: readonly T[]): FlagKind<T> => ({
  type: choices.join('|'),
  parse(value) {
    const found = choices.find((choice) => choice === value);
    if (found === undefined) throw new Error(`must be one of ${choices.join(', ')}`);
    return found;
  },
});

/** Comma-separated; an empty text is an empty list. */
export const list: FlagKind<readonly string[]> = {
  type: 'strings',
  parse: (value) => (value === '' ? [] : value.split(',').map((item) => item.trim())),
};

export const flag = <T>(kind: FlagKind<T>, fallback: T, help: string, merge?: Flag<T>['merge']): Flag<T> => ({
  kind,
  default: fallback,
  help,
  ...(merge && { merge }),
});

const nearest = (name: string, names: readonly string[]): string | undefined =>
  names.find((candidate) => candidate.startsWith(name) || name.startsWith(candidate)) ??
  names.find((candidate) => candidate.replaceAll('-', '') === name.replaceAll(/[-_]/g, ''));

/**
 * Reads a command line with the flags of one component: `--name=value`, `--name value`, `-name` as Go's
 * flag package allows, `--switch`. An unknown flag or a bad value is one clear line.
 */
export const parseFlags = <const Table extends FlagTable>(
  table: Table,
  args: readonly string[],
): ParsedFlags<Table> => {
  const names = Object.keys(table);
  const values: Record<string, unknown> = {};
  for (const name of names) values[name] = table[name]!.default;
  const given = new Set<string>();
  const positional: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at]!;
    if (arg === '--') {
      positional.push(...args.slice(at + 1));
      break;
    }
    const match = /^--?([^=-][^=]*)(?:=([\s\S]*))?$/.exec(arg);
    if (!match) {
      positional.push(arg);
      continue;
    }
    const name = match[1]!;
    const found = Object.hasOwn(table, name) ? table[name] : undefined;
    if (!found) {
      const near = nearest(name, names);
      throw new ReasonError<FlagFailure>(
        'UnknownFlag',
        `unknown flag: --${name}${near ? `; did you mean --${near}?` : ''}`,
      );
    }
    let raw = match[2];
    if (raw === undefined && found.kind.bare === undefined) {
      at += 1;
      raw = args[at];
      if (raw === undefined)
        throw new ReasonError<FlagFailure>(
          'MissingValue',
          `flag requires a value: --${name} (${found.kind.type})`,
        );
    }
    const value = raw === undefined ? found.kind.bare : parseValue(name, found, raw);
    values[name] = found.merge && given.has(name) ? found.merge(values[name], value) : value;
    given.add(name);
  }
  return {
    values: values as FlagValues<Table>,
    given: given as ReadonlySet<keyof Table & string>,
    positional,
  };
};

const parseValue = (name: string, found: Flag<unknown>, raw: string): unknown => {
  try {
    return found.kind.parse(raw);
  } catch (cause) {
    throw new ReasonError<FlagFailure>(
      'BadValue',
      `invalid value ${JSON.stringify(raw)} for --${name}: ${(cause as Error).message}`,
      { cause },
    );
  }
};

/** A command line or a configuration file that is rejected: starting again with the same gives the same. */
export const isUsageError = (error: unknown): boolean =>
  (['UnknownFlag', 'MissingValue', 'BadValue', 'BadConfiguration'] as const).some((reason) =>
    hasReason(error, reason),
  );

const FLAG_NAME = /^--([^=]+)/;

/** Fails with the reason for the first flag that upstream has and the table of flags does not. */
export const rejectUnsupportedFlags = (
  args: readonly string[],
  known: Readonly<Record<string, unknown>>,
  unsupported: Readonly<Record<string, string>>,
): void => {
  for (const arg of args) {
    if (arg === '--') return;
    const name = FLAG_NAME.exec(arg)?.[1] ?? '';
    if (Object.hasOwn(known, name) || !Object.hasOwn(unsupported, name)) continue;
    throw new ReasonError('BadConfiguration', `--${name} is not supported: ${unsupported[name]}`);
  }
};
