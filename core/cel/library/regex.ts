import type { RE2JS } from 're2js';
import { INT, STRING, listOf } from '../types/type.ts';
import { CelError, type Int, type Value, error } from '../values/value.ts';
import { type Library, member } from './declare.ts';
import { compileRegex } from './regex-cache.ts';
import { findAllMatches, findMatch } from './regex-search.ts';

const withRegex = (pattern: string, run: (regex: RE2JS) => Value): Value => {
  const regex = compileRegex(pattern);
  return regex instanceof CelError ? error(`Illegal regex: ${regex.message}`) : run(regex);
};
const find = (text: string, pattern: string): Value => withRegex(pattern, (regex) => findMatch(regex, text));
const findAll = (text: string, pattern: string, limit?: Int): Value =>
  withRegex(pattern, (regex) => findAllMatches(regex, text, limit));

const STRINGS = listOf(STRING);

/** Kubernetes' search by regular expressions. */
export const KUBERNETES_REGEX: Library = {
  name: 'kubernetes.regex',
  overloads: [
    member(['find', 'string_find_string', [STRING, STRING], STRING], find),
    member(['findAll', 'string_find_all_string', [STRING, STRING], STRINGS], findAll),
    member(['findAll', 'string_find_all_string_int', [STRING, STRING, INT], STRINGS], findAll),
  ],
};
