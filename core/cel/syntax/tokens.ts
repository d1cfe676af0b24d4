export type TokenKind =
  'int' | 'uint' | 'float' | 'string' | 'bytes' | 'identifier' | 'escaped-identifier' | 'symbol' | 'end';

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly offset: number;
}

/** Two-character symbols first: the longest match wins. */
const SYMBOLS = [
  '==',
  '!=',
  '<=',
  '>=',
  '&&',
  '||',
  '<',
  '>',
  '[',
  ']',
  '{',
  '}',
  '(',
  ')',
  '.',
  ',',
  '-',
  '!',
  '?',
  ':',
  '+',
  '*',
  '/',
  '%',
];

const WHITESPACE = /[ \t\r\n\f]+/y;
const COMMENT = /\/\/[^\n]*/y;
const FLOAT = /[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?/y;
const INTEGER = /0x[0-9a-fA-F]+|[0-9]+/y;
const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y;
const ESCAPED_IDENTIFIER = /`[A-Za-z0-9_.\-/ ]+`/y;
const ESCAPE = String.raw`\\(?:[abfnrtv"'\\?${'`'}]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})`;
const TRIPLE_DOUBLE = new RegExp(`"""(?:${ESCAPE}|[^\\\\])*?"""`, 'y');
const TRIPLE_SINGLE = new RegExp(`'''(?:${ESCAPE}|[^\\\\])*?'''`, 'y');
const DOUBLE = new RegExp(`"(?:${ESCAPE}|[^\\\\"\\n\\r])*"`, 'y');
const SINGLE = new RegExp(`'(?:${ESCAPE}|[^\\\\'\\n\\r])*'`, 'y');
const RAW_TRIPLE_DOUBLE = /[rR]"""[^]*?"""/y;
const RAW_TRIPLE_SINGLE = /[rR]'''[^]*?'''/y;
const RAW_DOUBLE = /[rR]"[^"\n\r]*"/y;
const RAW_SINGLE = /[rR]'[^'\n\r]*'/y;
const STRINGS = [
  TRIPLE_DOUBLE,
  TRIPLE_SINGLE,
  DOUBLE,
  SINGLE,
  RAW_TRIPLE_DOUBLE,
  RAW_TRIPLE_SINGLE,
  RAW_DOUBLE,
  RAW_SINGLE,
];

const matchAt = (pattern: RegExp, text: string, offset: number): string | undefined => {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0];
};

const MAY_BEGIN_STRING = new Set(['"', "'", 'r', 'R']);

const stringAt = (text: string, offset: number): string | undefined => {
  if (!MAY_BEGIN_STRING.has(text[offset]!)) return undefined;
  let longest: string | undefined;
  for (const pattern of STRINGS) {
    const found = matchAt(pattern, text, offset);
    if (found !== undefined && found.length > (longest?.length ?? 0)) longest = found;
  }
  return longest;
};

const MAY_BEGIN_NUMBER = /[0-9.]/;

const numberAt = (text: string, offset: number): Token | undefined => {
  if (!MAY_BEGIN_NUMBER.test(text[offset]!)) return undefined;
  const float = matchAt(FLOAT, text, offset);
  const integer = matchAt(INTEGER, text, offset);
  if (float !== undefined && float.length > (integer?.length ?? 0))
    return { kind: 'float', text: float, offset };
  if (integer === undefined) return undefined;
  const suffix = text[offset + integer.length];
  return suffix === 'u' || suffix === 'U'
    ? { kind: 'uint', text: integer + suffix, offset }
    : { kind: 'int', text: integer, offset };
};

const tokenAt = (text: string, offset: number): Token | undefined => {
  const string = stringAt(text, offset);
  if (string !== undefined) return { kind: 'string', text: string, offset };
  const first = text[offset]!;
  if (first === 'b' || first === 'B') {
    const bytes = stringAt(text, offset + 1);
    if (bytes !== undefined) return { kind: 'bytes', text: first + bytes, offset };
  }
  const number = numberAt(text, offset);
  if (number !== undefined) return number;
  const identifier = matchAt(IDENTIFIER, text, offset);
  if (identifier !== undefined) return { kind: 'identifier', text: identifier, offset };
  const symbol = SYMBOLS.find((candidate) => text.startsWith(candidate, offset));
  if (symbol !== undefined) return { kind: 'symbol', text: symbol, offset };
  const escaped = matchAt(ESCAPED_IDENTIFIER, text, offset);
  return escaped === undefined ? undefined : { kind: 'escaped-identifier', text: escaped, offset };
};

const HEX_ESCAPES: Readonly<Record<string, number>> = { x: 2, X: 2, u: 4, U: 8 };
const characterEnd = (text: string, at: number): number =>
  Math.min(text.length, at + (at < text.length && text.codePointAt(at)! > 0xffff ? 2 : 1));

/** The end of an escape sequence, or minus the place of the character that does not belong to one. */
const escapeEnd = (text: string, at: number): number => {
  const letter = text[at];
  if (letter === undefined) return -at;
  if ('abfnrtv"\'\\?`'.includes(letter)) return at + 1;
  const isOctal = letter >= '0' && letter <= '3';
  const digits = isOctal ? 2 : (HEX_ESCAPES[letter] ?? 0);
  if (digits === 0) return -at;
  for (let index = at + 1; index <= at + digits; index++)
    if (!(isOctal ? /[0-7]/ : /[0-9a-fA-F]/).test(text[index] ?? '')) return -index;
  return at + 1 + digits;
};

/** Where a string that is not closed stops being one: behind the character that does not belong there. */
const brokenStringEnd = (text: string, offset: number): number => {
  let at = offset + 1;
  while (at < text.length) {
    if (text[at] === '\n' || text[at] === '\r') return at + 1;
    if (text[at] !== '\\') at++;
    else {
      const end = escapeEnd(text, at + 1);
      if (end < 0) return characterEnd(text, -end);
      at = end;
    }
  }
  return at;
};

/** Where a run of characters that begins no token ends, as the generated lexer of upstream skips it. */
const unknownEnd = (text: string, offset: number): number => {
  const first = text[offset]!;
  if (first === '"' || first === "'") return brokenStringEnd(text, offset);
  // The first half of an operator takes the character with it that is not the second half.
  if ('|&='.includes(first)) return characterEnd(text, offset + 1);
  if (first !== '`') return characterEnd(text, offset);
  let at = offset + 1;
  while (/[A-Za-z0-9_.\-/ ]/.test(text[at] ?? '')) at++;
  return characterEnd(text, at);
};

/** Cuts a text into tokens, the last of which is `end`. What is no token is reported and skipped. */
export const tokenize = (text: string, unknown: (offset: number, text: string) => void): Token[] => {
  const tokens: Token[] = [];
  let offset = 0;
  while (offset < text.length) {
    const skipped = matchAt(WHITESPACE, text, offset) ?? matchAt(COMMENT, text, offset);
    if (skipped !== undefined) {
      offset += skipped.length;
      continue;
    }
    const token = tokenAt(text, offset);
    if (token === undefined) {
      const end = unknownEnd(text, offset);
      unknown(offset, text.slice(offset, end));
      offset = end;
      continue;
    }
    tokens.push(token);
    offset += token.text.length;
  }
  tokens.push({ kind: 'end', text: '<EOF>', offset: text.length });
  return tokens;
};
