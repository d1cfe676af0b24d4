import { RE2JS, RE2JSException } from 're2js';
import { messageOf } from '../../../base/errors.ts';

const PATTERNS_MAX = 2_000;

type Compiled =
  | {
      readonly test: (text: string) => boolean;
      /** Instructions of the program: a match looks at most at each of them for every character. */
      readonly size: number;
    }
  | { readonly problem: string };

const compiled = new Map<string, Compiled>();

const compileNew = (pattern: string): Compiled => {
  try {
    const regex = RE2JS.compile(pattern);
    return { test: (text) => regex.matcher(text).find(), size: regex.programSize() };
  } catch (error) {
    if (error instanceof RE2JSException) return { problem: messageOf(error) };
    if (error instanceof RangeError) return { problem: 'error parsing regexp: expression nests too deeply' };
    throw error;
  }
};

/** Whether a pattern is at hand: a new one takes as long as many matches. */
export const isPatternKnown = (pattern: string): boolean => compiled.has(pattern);

/** Patterns of Go: RE2 matches in time linear in the text, so no pattern can stall the server. */
export const compilePattern = (pattern: string): Compiled => {
  const known = compiled.get(pattern);
  if (known) return known;
  const made = compileNew(pattern);
  if (compiled.size >= PATTERNS_MAX) compiled.delete(compiled.keys().next().value!);
  compiled.set(pattern, made);
  return made;
};
