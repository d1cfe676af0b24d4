import { RESULT_SIZE_MAX } from '../bounds.ts';
import { codePointCount } from '../source/text.ts';
import { DYN, INT, STRING, listOf } from '../types/type.ts';
import { goTrim } from '../values/go-text.ts';
import { ArrayList, type CelList } from '../values/lists.ts';
import { printValue } from '../values/print.ts';
import { type CelError, type Int, type Value, error } from '../values/value.ts';
import { type Library, member, global } from './declare.ts';
import { formatString } from './format.ts';

/** Characters of a text: the text itself where each of its code units is one. */
const characters = (text: string): ArrayLike<string> =>
  codePointCount(text) === text.length ? text : Array.from(text);

const join = (parts: ArrayLike<string>, start: number, end: number): string =>
  typeof parts === 'string' ? parts.slice(start, end) : Array.from(parts).slice(start, end).join('');

const outOfRange = (index: Int): CelError => error(`index out of range: ${index}`);
const TOO_LARGE = error(`result exceeds ${RESULT_SIZE_MAX} characters`);

const charAt = (text: string, index: Int): Value => {
  const parts = characters(text);
  if (index < 0 || index > parts.length) return outOfRange(index);
  return parts[Number(index)] ?? '';
};

const substring = (text: string, start: Int, end?: Int): Value => {
  const parts = characters(text);
  if (end !== undefined && start > end) return error(`invalid substring range. start: ${start}, end: ${end}`);
  if (start < 0 || start > parts.length) return outOfRange(start);
  if (end !== undefined && (end < 0 || end > parts.length)) return outOfRange(end);
  return join(parts, Number(start), end === undefined ? parts.length : Number(end));
};

/** Code units before a character. */
const unitsBefore = (text: string, index: number): number =>
  codePointCount(text) === text.length ? index : Array.from(text).slice(0, index).join('').length;

const indexOf = (text: string, part: string, offset: Int = 0): Value => {
  if (part === '') return offset;
  if (offset < 0) return outOfRange(offset);
  const found = text.indexOf(part, unitsBefore(text, Math.min(Number(offset), text.length)));
  return found < 0 ? -1 : codePointCount(text.slice(0, found));
};

const lastIndexOf = (text: string, part: string, offset?: Int): Value => {
  const size = codePointCount(text);
  if (part === '') return offset ?? size;
  if (offset !== undefined && offset < 0) return outOfRange(offset);
  if (offset !== undefined && offset >= size) return -1;
  const found = text.lastIndexOf(part, unitsBefore(text, Number(offset ?? size)));
  return found < 0 ? -1 : codePointCount(text.slice(0, found));
};

const split = (text: string, separator: string, limit: Int = -1): Value => {
  if (limit === 0) return new ArrayList([]);
  const all = separator === '' ? Array.from(text) : text.split(separator);
  if (limit < 0 || all.length <= Number(limit)) return new ArrayList(all);
  const kept = all.slice(0, Number(limit) - 1);
  return new ArrayList([...kept, all.slice(kept.length).join(separator)]);
};

/** How often `part` is replaced; an empty one is found before and after every character. */
const countOf = (text: string, part: string): number => {
  if (part === '') return codePointCount(text) + 1;
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++;
  return count;
};

const replace = (text: string, part: string, by: string, limit: Int = -1): Value => {
  const count = Math.min(countOf(text, part), limit < 0 ? Number.POSITIVE_INFINITY : Number(limit));
  if (text.length + count * (by.length - part.length) > RESULT_SIZE_MAX) return TOO_LARGE;
  if (part !== '') {
    const parts = text.split(part);
    return (
      parts.slice(0, count + 1).join(by) +
      parts
        .slice(count + 1)
        .map((rest) => part + rest)
        .join('')
    );
  }
  let result = '';
  let done = 0;
  for (const character of Array.from(text)) result += (done++ < count ? by : '') + character;
  return done < count ? result + by : result;
};

const joinList = (list: CelList, separator = ''): Value => {
  const parts: string[] = [];
  let size = 0;
  for (let index = 0; index < list.size; index++) {
    const part = list.at(index);
    if (typeof part !== 'string') return error(`join: invalid input: ${printValue(part)}`);
    size += part.length + separator.length;
    if (size > RESULT_SIZE_MAX) return TOO_LARGE;
    parts.push(part);
  }
  return parts.join(separator);
};

const QUOTED: Readonly<Record<string, string>> = {
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

const quote = (text: string): string =>
  `"${text.replace(/[\u0007\b\f\n\r\t\v\\"]/g, (found) => QUOTED[found]!)}"`;

const lowerAscii = (text: string): string => text.replace(/[A-Z]+/g, (found) => found.toLowerCase());
const upperAscii = (text: string): string => text.replace(/[a-z]+/g, (found) => found.toUpperCase());

const STRINGS = listOf(STRING);

/** The strings extension, version 2. */
export const STRINGS_LIBRARY: Library = {
  name: 'strings',
  overloads: [
    member(['charAt', 'string_char_at_int', [STRING, INT], STRING], charAt),
    member(['indexOf', 'string_index_of_string', [STRING, STRING], INT], indexOf),
    member(['indexOf', 'string_index_of_string_int', [STRING, STRING, INT], INT], indexOf),
    member(['lastIndexOf', 'string_last_index_of_string', [STRING, STRING], INT], lastIndexOf),
    member(['lastIndexOf', 'string_last_index_of_string_int', [STRING, STRING, INT], INT], lastIndexOf),
    member(['lowerAscii', 'string_lower_ascii', [STRING], STRING], lowerAscii),
    member(['replace', 'string_replace_string_string', [STRING, STRING, STRING], STRING], replace),
    member(['replace', 'string_replace_string_string_int', [STRING, STRING, STRING, INT], STRING], replace),
    member(['split', 'string_split_string', [STRING, STRING], STRINGS], split),
    member(['split', 'string_split_string_int', [STRING, STRING, INT], STRINGS], split),
    member(['substring', 'string_substring_int', [STRING, INT], STRING], substring),
    member(['substring', 'string_substring_int_int', [STRING, INT, INT], STRING], substring),
    member(['trim', 'string_trim', [STRING], STRING], goTrim),
    member(['upperAscii', 'string_upper_ascii', [STRING], STRING], upperAscii),
    member(['format', 'string_format', [STRING, listOf(DYN)], STRING], formatString),
    global(['strings.quote', 'strings_quote', [STRING], STRING], quote),
    member(['join', 'list_join', [STRINGS], STRING], joinList),
    member(['join', 'list_join_string', [STRINGS, STRING], STRING], joinList),
  ],
};
