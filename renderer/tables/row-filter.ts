import type { TableRow } from '../../core/contract/index.ts';
import { amountOf } from './amount.ts';

/** Longer patterns and longer texts are no one's search; both keep a bad pattern from stalling the page. */
const PATTERN_CHARACTERS_MAX = 200;
const TESTED_CHARACTERS_MAX = 300;

type Test = (row: TableRow) => boolean;

/** A column that a filter can name: `status`, `nominated-node`. */
export interface FilterColumn {
  readonly name: string;
  read(row: TableRow): string;
}

export interface RowFilter {
  readonly matches: Test;
  /** A pattern that cannot be read; it narrows nothing until it can. */
  readonly badPattern?: string;
}

const keyOf = (name: string): string => name.toLowerCase().replaceAll(/\s+/g, '-');

/** What a row holds under a name: a label of that key, else the column, the name or the namespace. */
type Lookup = (key: string) => (row: TableRow) => string | undefined;

const lookupIn =
  (columns: readonly FilterColumn[]): Lookup =>
  (key) => {
    const wanted = key.toLowerCase();
    const column = columns.find(({ name }) => keyOf(name) === wanted);
    return (row) => {
      for (const label in row.labels) if (label.toLowerCase() === wanted) return row.labels[label];
      if (column) return column.read(row);
      return wanted === 'name' ? row.name : wanted === 'namespace' ? row.namespace : undefined;
    };
  };

const same = (held: string | undefined, value: string): boolean =>
  held?.toLowerCase() === value.toLowerCase();

const patternOf = (source: string): RegExp | undefined => {
  if (source.length > PATTERN_CHARACTERS_MAX) return undefined;
  try {
    return new RegExp(source, 'i');
  } catch {
    return undefined;
  }
};
const fits = (pattern: RegExp, text: string): boolean => pattern.test(text.slice(0, TESTED_CHARACTERS_MAX));

const anywhere =
  (test: (text: string) => boolean): Test =>
  (row) =>
    test(row.name) || test(row.namespace) || row.cells.some((cell) => typeof cell === 'string' && test(cell));

const comparison = (operator: string, value: string): ((held: string | undefined) => boolean) | undefined => {
  if (operator === '=' || operator === '==')
    return value === '*' ? (held) => held !== undefined && held !== '' : (held) => same(held, value);
  if (operator === '!=')
    return value === '*' ? (held) => held === undefined || held === '' : (held) => !same(held, value);
  if (operator === '=~' || operator === '!~') {
    const pattern = patternOf(value);
    if (!pattern) return undefined;
    const isWanted = operator === '=~';
    return (held) => (held !== undefined && fits(pattern, held)) === isWanted;
  }
  const bound = amountOf(value);
  if (bound === undefined) return () => false;
  return (held) => {
    const amount = held === undefined ? undefined : amountOf(held);
    if (amount === undefined) return false;
    switch (operator) {
      case '>':
        return amount > bound;
      case '>=':
        return amount >= bound;
      case '<':
        return amount < bound;
      default:
        return amount <= bound;
    }
  };
};

const SET = /^([^\s=!<>~]+)\s+(in|notin)\s+\(([^)]*)\)?/i;
const COMPARED = /^([^\s=!<>~]+)(!=|==|=~|!~|>=|<=|=|>|<)(.*)$/;
const PATTERN = /^\/((?:[^/\\]|\\.)+)\/?(?=\s|$)/;

/** One condition at the start of the text, and how much of it that took. */
const readCondition = (
  text: string,
  lookup: Lookup,
): { readonly length: number; readonly test?: Test; readonly badPattern?: string } => {
  const [set, key = '', operator = '', list = ''] = SET.exec(text) ?? [];
  if (set !== undefined) {
    const values = list
      .split(',')
      .map((each) => each.trim())
      .filter(Boolean);
    const read = lookup(key);
    const isIn = operator.toLowerCase() === 'in';
    return {
      length: set.length,
      // Nothing is in an empty set: while it is typed, it asks for nothing.
      ...(values.length > 0 && {
        test: (row: TableRow) => values.some((value) => same(read(row), value)) === isIn,
      }),
    };
  }
  const [slashed, source = ''] = PATTERN.exec(text) ?? [];
  if (slashed !== undefined) {
    const pattern = patternOf(source);
    return pattern
      ? { length: slashed.length, test: anywhere((cell) => fits(pattern, cell)) }
      : { length: slashed.length, badPattern: source };
  }
  const [word = ''] = /^\S+/.exec(text) ?? [];
  const [, name = '', sign = '', value = ''] = COMPARED.exec(word) ?? [];
  // While its value is not typed yet, it asks for nothing.
  if (sign !== '' && value === '') return { length: word.length };
  if (sign !== '') {
    const holds = comparison(sign, value);
    const read = lookup(name);
    return holds
      ? { length: word.length, test: (row) => holds(read(row)) }
      : { length: word.length, badPattern: value };
  }
  if (word.length > 1 && word.startsWith('!')) {
    const inner = readCondition(word.slice(1), lookup);
    const { test } = inner;
    return { ...inner, length: word.length, ...(test && { test: (row: TableRow) => !test(row) }) };
  }
  const wanted = word.toLowerCase();
  return { length: word.length, test: anywhere((cell) => cell.toLowerCase().includes(wanted)) };
};

/**
 * Conditions that must all hold: `app=web`, `status!=Running`, `node in (a, b)`, `tier=*` for anything at all,
 * `restarts>3`, `name=~^web-\d`, `/pattern/` and plain words anywhere, each turned round by `!`. A key is a label or a
 * column. Undefined when there is nothing to ask.
 */
export const rowFilter = (query: string, columns: readonly FilterColumn[] = []): RowFilter | undefined => {
  const lookup = lookupIn(columns);
  const tests: Test[] = [];
  let badPattern: string | undefined;
  let rest = query.trim();
  while (rest !== '') {
    const condition = readCondition(rest, lookup);
    if (condition.test) tests.push(condition.test);
    badPattern ??= condition.badPattern;
    rest = rest.slice(Math.max(1, condition.length)).trimStart();
  }
  if (tests.length === 0 && badPattern === undefined) return undefined;
  return {
    matches: (row) => tests.every((test) => test(row)),
    ...(badPattern !== undefined && { badPattern }),
  };
};
