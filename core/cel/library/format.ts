import { goFloat } from '../values/floats.ts';
import { goQuote } from '../values/go-text.ts';
import { CelList } from '../values/lists.ts';
import { CelMap } from '../values/maps.ts';
import { durationText, timestampText } from '../values/time.ts';
import {
  CelDouble,
  CelDuration,
  CelTimestamp,
  CelType,
  CelUint,
  type Value,
  error,
  isInt,
  typeOf,
} from '../values/value.ts';
import { fixedDigits } from './decimal-digits.ts';
import { type FormatClause, type FormatFailure, parseFormat } from './format-string.ts';

const DEFAULT_PRECISION = 6;

const utf8Text = (bytes: Uint8Array): string | FormatFailure => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return {
      message:
        'error during formatting: could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string',
    };
  }
};

/** Text of a value on its own; undefined for types that have none. */
const plainText = (value: Value): string | FormatFailure | undefined => {
  if (value === null) return 'null';
  if (typeof value !== 'object') return String(value);
  if (value instanceof Uint8Array) return utf8Text(value);
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof CelDouble) return goFloat(value.value);
  if (value instanceof CelTimestamp) return timestampText(value);
  if (value instanceof CelDuration) return durationText(value);
  if (value instanceof CelType) return value.denoted.name;
  if (value instanceof CelList) return listText(value);
  return value instanceof CelMap ? mapText(value) : undefined;
};

const unquotedFloat = (value: number): string =>
  Number.isNaN(value)
    ? '"NaN"'
    : Number.isFinite(value)
      ? fixedDigits(value, DEFAULT_PRECISION)
      : value > 0
        ? '"+Inf"'
        : '"-Inf"';

/** Text of a value within a list or map, where it looks like a literal. */
const nestedText = (value: Value): string | FormatFailure => {
  if (value instanceof CelTimestamp) return `timestamp(${goQuote(timestampText(value))})`;
  if (value instanceof CelDuration) return `duration(${goQuote(durationText(value))})`;
  if (value instanceof CelDouble) return unquotedFloat(value.value);
  const text = plainText(value);
  if (text === undefined)
    return { message: `error during formatting: no formatting function for ${typeOf(value).name}` };
  if (typeof text !== 'string') return text;
  if (typeof value === 'string') return goQuote(text);
  return value instanceof Uint8Array ? `b${goQuote(text)}` : text;
};

const listText = (list: CelList): string | FormatFailure => {
  const parts: string[] = [];
  for (let index = 0; index < list.size; index++) {
    const part = nestedText(list.at(index));
    if (typeof part !== 'string') return part;
    parts.push(part);
  }
  return `[${parts.join(', ')}]`;
};

const isKeyWithText = (key: Value): boolean =>
  typeof key === 'string' || typeof key === 'boolean' || isInt(key) || key instanceof CelUint;

const mapText = (map: CelMap): string | FormatFailure => {
  const entries: { key: string; value: string }[] = [];
  for (const each of map.keys()) {
    if (!isKeyWithText(each))
      return {
        message: `error during formatting: no formatting function for map key of type ${typeOf(each).name}`,
      };
    const key = nestedText(each);
    const value = nestedText(map.find(each)!);
    if (typeof key !== 'string') return key;
    if (typeof value !== 'string') return value;
    entries.push({ key, value });
  }
  entries.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return `{${entries.map(({ key, value }) => `${key}:${value}`).join(', ')}}`;
};

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';
const superscript = (exponent: number): string => {
  const digits = Math.abs(exponent).toString().padStart(2, '0');
  return (exponent < 0 ? '⁻' : '') + Array.from(digits, (digit) => SUPERSCRIPTS[Number(digit)]).join('');
};

/** Upstream prints numbers by the rules of a locale, which is always American English. */
const localFixed = (value: number, precision: number): string => {
  const [whole, fraction] = fixedDigits(value, precision).split('.') as [string, string?];
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
};

const localScientific = (value: number): string => {
  const [mantissa, exponent] = value.toExponential(DEFAULT_PRECISION).split('e') as [string, string];
  return `${mantissa}×10${superscript(Number(exponent))}`;
};

const doubleOf = (value: Value): number | undefined => {
  if (value instanceof CelDouble) return value.value;
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return Number(value);
  return undefined;
};

const floatText = (value: Value, { verb, precision }: FormatClause): string | undefined => {
  const number = doubleOf(value);
  if (number === undefined) return undefined;
  const text = Number.isNaN(number)
    ? 'NaN'
    : !Number.isFinite(number)
      ? number > 0
        ? '∞'
        : '-∞'
      : verb === 'f'
        ? localFixed(number, precision ?? DEFAULT_PRECISION)
        : localScientific(number);
  // The precision of `%e` is taken for a width.
  return verb === 'e' ? text.padStart(precision ?? DEFAULT_PRECISION) : text;
};

const hexText = (value: Value): string | undefined => {
  if (isInt(value)) return value.toString(16);
  if (value instanceof CelUint) return value.value.toString(16);
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  if (!(bytes instanceof Uint8Array)) return undefined;
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
};

const integerText = (value: Value, radix: number): string | undefined => {
  if (isInt(value)) return value.toString(radix);
  return value instanceof CelUint ? value.value.toString(radix) : undefined;
};

const clauseText = (value: Value, clause: FormatClause): string | FormatFailure | undefined => {
  switch (clause.verb) {
    case 's':
      return plainText(value);
    case 'd':
      return integerText(value, 10);
    case 'o':
      return integerText(value, 8);
    case 'b':
      return typeof value === 'boolean' ? String(Number(value)) : integerText(value, 2);
    case 'x':
      return hexText(value);
    case 'X':
      return hexText(value)?.toUpperCase();
    case 'f':
    case 'e':
      return floatText(value, clause);
  }
};

/** `'%d items'.format([3])` */
export const formatString = (format: string, args: CelList): Value => {
  const result = parseFormat(format, {
    count: args.size,
    clause: (clause, index) => {
      const value = args.at(index);
      return clauseText(value, clause) ?? { message: clause.mismatch(typeOf(value).name) };
    },
  });
  return typeof result === 'string' ? result : error(result.message);
};
