import { parseInt64 } from './int64.ts';

/**
 * JSON with 64-bit integers. An integer that a JavaScript number cannot hold exactly is a bigint in an object, any other
 * stays a number. Both directions cost ordinary texts nothing but one search for a long row of digits.
 */

/** 2^53 has sixteen digits; a shorter integer is exact as a number. */
const LONG_DIGITS = /[0-9]{16}/;
/** Where a value begins; the second search is for texts with digits in strings, such as hashes and random numbers. */
const LONG_NUMBER = /(?:^|[:,[\s])-?[0-9]{16}/;
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.eE+-]*|[[\]{}:,]|true|false|null/g;
const INTEGER = /^-?[0-9]{16,}$/;

/** Beyond int64 a number is a float64, as it is to Go. */
export const exactNumber = (token: string): number | bigint => {
  const rounded = Number(token);
  if (!INTEGER.test(token) || Number.isSafeInteger(rounded)) return rounded;
  return parseInt64(token) ?? rounded;
};

/** For a parser of YAML that makes every integer of a document a bigint, or none. */
export const exactIntegers = (_key: unknown, value: unknown): unknown =>
  typeof value === 'bigint' ? exactNumber(String(value)) : value;

export const hasLongDigits = (text: string): boolean => LONG_DIGITS.test(text);

const hasLongNumber = (text: string): boolean => hasLongDigits(text) && LONG_NUMBER.test(text);

/** Reads a text that `JSON.parse` has accepted, so that nothing in it needs to be checked again. */
class ExactReader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = text.match(TOKEN) ?? [];
  }

  value(): unknown {
    const token = this.#next();
    switch (token.charAt(0)) {
      case '{':
        return this.#object();
      case '[':
        return this.#list();
      case '"':
      case 't':
      case 'f':
      case 'n':
        return JSON.parse(token);
      default:
        return exactNumber(token);
    }
  }

  #next(): string {
    const token = this.#tokens[this.#at];
    this.#at += 1;
    return String(token);
  }

  #object(): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    for (let token = this.#next(); token !== '}'; token = this.#next()) {
      const name = JSON.parse(token === ',' ? this.#next() : token) as string;
      this.#next();
      // Names come from the body: `__proto__` must become a key like any other.
      Object.defineProperty(object, name, {
        value: this.value(),
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
    return object;
  }

  #list(): unknown[] {
    const list: unknown[] = [];
    for (; this.#tokens[this.#at] !== ']';) {
      if (this.#tokens[this.#at] === ',') this.#at += 1;
      list.push(this.value());
    }
    this.#at += 1;
    return list;
  }
}

/** `JSON.parse`, except that integers of 64 bits keep their digits. */
export const parseJsonText = (text: string): unknown => {
  const value: unknown = JSON.parse(text);
  return hasLongNumber(text) ? new ExactReader(text).value() : value;
};

const exactText = (value: unknown, indent: string, margin: string): string | undefined => {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return JSON.stringify(value);
  const inner = margin + indent;
  const [open, separator, close] =
    indent === '' ? ['', ',', ''] : [`\n${inner}`, `,\n${inner}`, `\n${margin}`];
  const around = (marks: string, parts: readonly string[]): string =>
    parts.length === 0 ? marks : `${marks[0]!}${open}${parts.join(separator)}${close}${marks[1]!}`;
  if (Array.isArray(value))
    return around(
      '[]',
      value.map((item) => exactText(item, indent, inner) ?? 'null'),
    );
  const colon = indent === '' ? ':' : ': ';
  return around(
    '{}',
    Object.entries(value).flatMap(([name, item]) => {
      const text = exactText(item, indent, inner);
      return text === undefined ? [] : [`${JSON.stringify(name)}${colon}${text}`];
    }),
  );
};

/** `JSON.stringify`, except that it writes a bigint as the integer it is. */
export const jsonText = (value: unknown, indent = 0): string => {
  try {
    return JSON.stringify(value, null, indent);
  } catch (error) {
    // A bigint is the only value of an object that makes it throw.
    if (!(error instanceof TypeError)) throw error;
    return exactText(value, ' '.repeat(indent), '')!;
  }
};
