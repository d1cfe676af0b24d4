import { RE2JS, RE2JSException } from 're2js';
import { messageOf } from '../../base/errors.ts';
import { REGEX_CACHE_ENTRIES_MAX } from '../bounds.ts';
import type { CelError } from '../values/value.ts';
import { error } from '../values/value.ts';

/** Patterns by their text, the oldest first. What is compiled depends on the text alone, so all programs share it. */
const compiled = new Map<string, RE2JS | CelError>();

/** RE2 matches in time linear in the text, so no pattern can stall the server. */
const compileNew = (pattern: string): RE2JS | CelError => {
  try {
    return RE2JS.compile(pattern);
  } catch (thrown) {
    // A pattern that nests too deeply ends in a stack overflow, which Go reports as an error, too.
    if (thrown instanceof RangeError) return error('error parsing regexp: expression nests too deeply');
    if (thrown instanceof RE2JSException) return error(messageOf(thrown));
    throw thrown;
  }
};

export const compileRegex = (pattern: string): RE2JS | CelError => {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const regex = compileNew(pattern);
  if (compiled.size >= REGEX_CACHE_ENTRIES_MAX) compiled.delete(compiled.keys().next().value!);
  compiled.set(pattern, regex);
  return regex;
};
