import { FORMAT_PRECISION_MAX } from '../bounds.ts';

type Verb = 's' | 'd' | 'f' | 'e' | 'b' | 'x' | 'X' | 'o';

export interface FormatClause {
  readonly verb: Verb;
  /** Digits after the point; undefined if the clause has none. */
  readonly precision: number | undefined;
  /** The failure for an argument of a type that the clause cannot print. */
  readonly mismatch: (typeName: string) => string;
}

/** Why a format cannot be applied, and where, if it is a matter of one argument. */
export interface FormatFailure {
  readonly message: string;
  readonly offset?: number;
}

export interface FormatSink {
  readonly count: number;
  /** The text of an argument. */
  readonly clause: (clause: FormatClause, index: number) => string | FormatFailure;
  /** Called for a clause that has no argument. */
  readonly missing?: () => void;
}

const MISMATCH: Readonly<Record<Verb, string>> = {
  s: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  d: 'decimal clause can only be used on integers',
  f: 'fixed-point clause can only be used on doubles',
  e: 'scientific clause can only be used on doubles',
  b: 'only integers and bools can be formatted as binary',
  x: 'only integers, byte buffers, and strings can be formatted as hex',
  X: 'only integers, byte buffers, and strings can be formatted as hex',
  o: 'octal clause can only be used on integers',
};

const isVerb = (letter: string): letter is Verb => Object.hasOwn(MISMATCH, letter);

const fail = (message: string): FormatFailure => ({
  message: `could not parse formatting clause: ${message}`,
});

interface ReadClause {
  readonly clause: FormatClause;
  readonly end: number;
}

const readClause = (format: string, start: number): ReadClause | FormatFailure => {
  let at = start;
  let precision: number | undefined;
  if (format[at] === '.') {
    const digits = /[0-9]*/y;
    digits.lastIndex = at + 1;
    const [text] = digits.exec(format)!;
    at += 1 + text.length;
    if (at >= format.length)
      return fail('error while parsing precision: could not find end of precision specifier');
    if (text === '')
      return fail(
        'error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax',
      );
    precision = Number(text);
    if (precision > FORMAT_PRECISION_MAX)
      return fail(`error while parsing precision: precision ${text} exceeds ${FORMAT_PRECISION_MAX}`);
  }
  const letter = format[at]!;
  if (!isVerb(letter)) return fail(`unrecognized formatting clause "${letter}"`);
  const mismatch = (typeName: string): string =>
    `error during formatting: ${MISMATCH[letter]}, was given ${typeName}`;
  return { clause: { verb: letter, precision, mismatch }, end: at + 1 };
};

/** Reads a format and joins the texts of its arguments. */
export const parseFormat = (format: string, sink: FormatSink): string | FormatFailure => {
  let text = '';
  let index = 0;
  for (let at = 0; at < format.length;) {
    const percent = format.indexOf('%', at);
    if (percent < 0) return text + format.slice(at);
    text += format.slice(at, percent);
    if (format[percent + 1] === '%') {
      text += '%';
      at = percent + 2;
      continue;
    }
    if (index >= sink.count) {
      sink.missing?.();
      return { message: `index ${index} out of range` };
    }
    if (percent + 1 >= format.length) return { message: 'unexpected end of string' };
    const read = readClause(format, percent + 1);
    if ('message' in read) return read;
    const part = sink.clause(read.clause, index);
    if (typeof part !== 'string') return part;
    text += part;
    at = read.end;
    index++;
  }
  return text;
};
