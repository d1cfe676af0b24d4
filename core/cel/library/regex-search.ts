import type { RE2JS } from 're2js';
import { ArrayList } from '../values/lists.ts';
import { type Value, isInt } from '../values/value.ts';

/** The first match, or an empty string. */
export const findMatch = (regex: RE2JS, text: string): string => {
  const matcher = regex.matcher(text);
  return matcher.find() ? (matcher.group() ?? '') : '';
};

/** All matches up to a limit; a negative one means all. */
export const findAllMatches = (regex: RE2JS, text: string, limit: Value | undefined): ArrayList => {
  const max = limit === undefined || !isInt(limit) || limit < 0 ? Number.POSITIVE_INFINITY : Number(limit);
  const found: string[] = [];
  const matcher = regex.matcher(text);
  while (found.length < max && matcher.find()) found.push(matcher.group() ?? '');
  return new ArrayList(found);
};
