import { INT_MAX, INT_MIN, UINT_MAX, intOf } from '../values/integers.ts';
import { CelDouble, CelUint, type Int } from '../values/value.ts';

export const intLiteral = (text: string, isNegative: boolean): Int | undefined => {
  const exact = isNegative ? -BigInt(text) : BigInt(text);
  return exact > INT_MAX || exact < INT_MIN ? undefined : intOf(exact);
};

export const uintLiteral = (text: string): CelUint | undefined => {
  const exact = BigInt(text.slice(0, -1));
  return exact > UINT_MAX ? undefined : new CelUint(exact);
};

export const doubleLiteral = (text: string, isNegative: boolean): CelDouble | undefined => {
  const value = Number(text);
  return Number.isFinite(value) ? new CelDouble(isNegative ? -value : value) : undefined;
};

/** Thrown by `unquote` with the text that upstream reports. */
export class EscapeError extends Error {
  override readonly name = 'EscapeError';
}

const SIMPLE_ESCAPES: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  v: 11,
  '\\': 92,
  "'": 39,
  '"': 34,
  '`': 96,
  '?': 63,
};
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, X: 2, u: 4, U: 8 };

interface Quoted {
  readonly body: string;
  readonly isRaw: boolean;
}

const stripQuotes = (text: string): Quoted => {
  const isRaw = text.startsWith('r') || text.startsWith('R');
  const quoted = (isRaw ? text.slice(1) : text).replace(/\r\n?/g, '\n');
  const isTriple = quoted.length >= 6 && (quoted.startsWith('"""') || quoted.startsWith("'''"));
  return { body: isTriple ? quoted.slice(3, -3) : quoted.slice(1, -1), isRaw };
};

interface Escape {
  readonly value: number;
  /** A byte on its own rather than a code point that is to be encoded. */
  readonly isByte: boolean;
  readonly length: number;
}

const readEscape = (body: string, at: number, isBytes: boolean): Escape => {
  const letter = body[at + 1];
  if (letter === undefined) throw new EscapeError("unable to unescape string, found '\\' as last character");
  const simple = SIMPLE_ESCAPES[letter];
  if (simple !== undefined) return { value: simple, isByte: false, length: 2 };
  const digits = HEX_DIGITS[letter];
  if (digits !== undefined) {
    if (isBytes && digits > 2) throw new EscapeError('unable to unescape string');
    const value = Number.parseInt(body.slice(at + 2, at + 2 + digits), 16);
    if (!isBytes && (value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)))
      throw new EscapeError('invalid unicode code point');
    return { value, isByte: isBytes, length: 2 + digits };
  }
  if (letter >= '0' && letter <= '3')
    return { value: Number.parseInt(body.slice(at + 1, at + 4), 8), isByte: isBytes, length: 4 };
  throw new EscapeError('unable to unescape string');
};

/** The text of a string literal. */
export const stringLiteral = (text: string): string => {
  const { body, isRaw } = stripQuotes(text);
  if (isRaw || !body.includes('\\')) return body;
  let result = '';
  for (let at = 0; at < body.length;) {
    if (body[at] !== '\\') {
      result += body[at++];
      continue;
    }
    const { value, length } = readEscape(body, at, false);
    result += String.fromCodePoint(value);
    at += length;
  }
  return result;
};

/** The bytes of a bytes literal, where octal and hexadecimal escapes denote bytes. */
export const bytesLiteral = (text: string): Uint8Array => {
  const { body, isRaw } = stripQuotes(text.slice(1));
  const encoder = new TextEncoder();
  if (isRaw || !body.includes('\\')) return encoder.encode(body);
  const bytes: number[] = [];
  for (let at = 0; at < body.length;) {
    if (body[at] !== '\\') {
      const character = String.fromCodePoint(body.codePointAt(at)!);
      bytes.push(...encoder.encode(character));
      at += character.length;
      continue;
    }
    const { value, isByte, length } = readEscape(body, at, true);
    if (isByte) bytes.push(value);
    else bytes.push(...encoder.encode(String.fromCodePoint(value)));
    at += length;
  }
  return Uint8Array.from(bytes);
};
