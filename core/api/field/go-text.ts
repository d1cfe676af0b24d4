import { jsonText } from '../meta/json-text.ts';
/**
 * How Go prints values inside error texts. Upstream's messages use %q and encoding/json, so ours must
 * escape the same characters to read the same.
 */

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};

// Letters, marks, numbers, punctuation, symbols and the ASCII space: Go's unicode.IsPrint.
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

export const isPrintable = (character: string): boolean => PRINTABLE.test(character);

/** strconv.Quote. */
export function goQuote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  let out = '"';
  for (const character of text) {
    const short = SHORT_ESCAPES[character];
    if (short !== undefined) {
      out += short;
      continue;
    }
    if (isPrintable(character)) {
      out += character;
      continue;
    }
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x80) out += `\\x${code.toString(16).padStart(2, '0')}`;
    else if (code < 0x10000) out += `\\u${code.toString(16).padStart(4, '0')}`;
    else out += `\\U${code.toString(16).padStart(8, '0')}`;
  }
  return `${out}"`;
}

const HTML_ESCAPES: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** encoding/json, which escapes what HTML would read as markup. */
export const goJson = (value: unknown): string =>
  (jsonText(value) ?? 'null').replace(/[<>&\u2028\u2029]/g, (found) => HTML_ESCAPES[found] ?? found);

const ENCODER = new TextEncoder();
const ASCII = /^[\x00-\x7f]*$/;

/** Go's len(string): UTF-8 bytes. */
export const byteLength = (text: string): number =>
  ASCII.test(text) ? text.length : ENCODER.encode(text).length;
