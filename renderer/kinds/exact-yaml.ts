import { parse } from 'yaml';
import { exactIntegers, hasLongDigits } from '../../core/api/meta/json-text.ts';

/** Integers that a number cannot hold keep their digits, as bigints; whatever shows or sends the value knows them. */
export const parseExactYaml = (text: string): unknown =>
  hasLongDigits(text) ? parse(text, exactIntegers, { intAsBigInt: true }) : parse(text);
