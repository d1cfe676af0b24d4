const NAMED_ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};
const UNPRINTABLE = /[\p{C}\p{Z}]/u;

const escapeCharacter = (character: string): string => {
  const named = NAMED_ESCAPES[character];
  if (named !== undefined) return named;
  const point = character.codePointAt(0)!;
  if (point === 0x20 || !UNPRINTABLE.test(character)) return character;
  const hex = point.toString(16);
  if (point < 0x80) return `\\x${hex.padStart(2, '0')}`;
  return point < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
};

/** A text in double quotes, as Go's `%q` writes it. */
export const goQuote = (text: string): string => `"${Array.from(text, escapeCharacter).join('')}"`;

/** The white space that Go trims, which is not the same as JavaScript's. */
const SPACE = '[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const LEADING_SPACE = new RegExp(`^${SPACE}+`);

export const goTrim = (text: string): string => {
  const start = text.replace(LEADING_SPACE, '');
  let end = start.length;
  // A pattern for trailing space would rescan every run of spaces.
  while (end > 0 && LEADING_SPACE.test(start[end - 1]!)) end--;
  return start.slice(0, end);
};
