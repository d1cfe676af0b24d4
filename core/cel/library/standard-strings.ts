import { BOOL, STRING } from '../types/type.ts';
import { CelError, NO_SUCH_OVERLOAD } from '../values/value.ts';
import { type Library, global, member } from './declare.ts';
import type { Implementation } from '../values/overload.ts';
import { compileRegex } from './regex-cache.ts';

const matches: Implementation = (text, pattern) => {
  if (typeof text !== 'string' || typeof pattern !== 'string') return NO_SUCH_OVERLOAD;
  const regex = compileRegex(pattern);
  return regex instanceof CelError ? regex : regex.test(text);
};

/** Upstream does not check the types of these before the call, and so has a shorter error. */
const onStrings =
  (run: (text: string, part: string) => boolean): Implementation =>
  (text, part) =>
    typeof text === 'string' && typeof part === 'string' ? run(text, part) : NO_SUCH_OVERLOAD;

const BOTH = [STRING, STRING];

export const STANDARD_STRINGS: Library = {
  name: 'standard-strings',
  overloads: [
    member(['contains', 'contains_string', BOTH, BOOL]),
    member(['endsWith', 'ends_with_string', BOTH, BOOL]),
    member(['startsWith', 'starts_with_string', BOTH, BOOL]),
    global(['matches', 'matches', BOTH, BOOL]),
    member(['matches', 'matches_string', BOTH, BOOL]),
  ],
  dispatch: {
    contains: onStrings((text, part) => text.includes(part)),
    endsWith: onStrings((text, part) => text.endsWith(part)),
    startsWith: onStrings((text, part) => text.startsWith(part)),
    matches,
  },
};
