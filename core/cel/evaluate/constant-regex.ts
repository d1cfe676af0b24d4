import type { Implementation } from '../values/overload.ts';
import { compileRegex } from '../library/regex-cache.ts';
import { findAllMatches, findMatch } from '../library/regex-search.ts';
import { CelError, NO_SUCH_OVERLOAD } from '../values/value.ts';

const SEARCHES = new Set(['matches', 'find', 'findAll']);

/** Whether a function takes a pattern as its second argument. */
export const isRegexFunction = (fn: string): boolean => SEARCHES.has(fn);

/** The function for a pattern that is known: compiled with the program, or the failure if it is none. */
export const withConstantRegex = (fn: string, pattern: string): Implementation | CelError => {
  const regex = compileRegex(pattern);
  if (regex instanceof CelError) return regex;
  return (text, _pattern, limit) => {
    if (typeof text !== 'string') return NO_SUCH_OVERLOAD;
    if (fn === 'matches') return regex.test(text);
    return fn === 'find' ? findMatch(regex, text) : findAllMatches(regex, text, limit);
  };
};
