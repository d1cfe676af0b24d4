import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  STRING,
  TIMESTAMP,
  type Type,
  UINT,
  param,
  typeOfType,
} from '../types/type.ts';
import { goFloat } from '../values/floats.ts';
import {
  INT_OVERFLOW,
  UINT_OVERFLOW,
  doubleToInt,
  doubleToUint,
  intOf,
  INT_MAX,
  parseInt64,
  parseUint64,
} from '../values/integers.ts';
import { durationText, parseDuration, parseTimestamp, timestampOf, timestampText } from '../values/time.ts';
import type { CelError } from '../values/value.ts';
import {
  CelDouble,
  type CelDuration,
  type CelTimestamp,
  CelType,
  CelUint,
  type Int,
  type Value,
  error,
  typeOf,
} from '../values/value.ts';
import { type Library, type Typed, global } from './declare.ts';
import type { Overload } from '../values/overload.ts';

const A = param('A');

const conversionError = (from: string, to: Type): CelError =>
  error(`type conversion error from '${from}' to '${to.name}'`);
const orFail = (value: Value | undefined, to: Type): Value => value ?? conversionError('string', to);

const GO_FLOAT =
  /^[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|0[xX](?:[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)$/;
const INFINITE = /^[+-]?inf(?:inity)?$/i;

const parseHexFloat = (text: string): number => {
  const [mantissa, exponent] = text.toLowerCase().replace('0x', '').split('p') as [string, string];
  const [whole, fraction = ''] = mantissa.replace(/^[+-]/, '').split('.') as [string, string?];
  const value = Number.parseInt(whole + fraction || '0', 16) * 2 ** (Number(exponent) - 4 * fraction.length);
  return mantissa.startsWith('-') ? -value : value;
};

/** A double as Go's ParseFloat reads it; undefined if it is none or too large. */
export const parseDouble = (text: string): number | undefined => {
  if (/^[+-]?nan$/i.test(text)) return Number.NaN;
  if (INFINITE.test(text)) return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (!GO_FLOAT.test(text)) return undefined;
  const value = /0x/i.test(text) ? parseHexFloat(text) : Number(text);
  return Number.isFinite(value) ? value : undefined;
};

const TRUE_TEXTS = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE_TEXTS = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);
const parseBool = (text: string): boolean | undefined =>
  TRUE_TEXTS.has(text) ? true : FALSE_TEXTS.has(text) ? false : undefined;

const bytesToString = (bytes: Uint8Array): Value => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return error('invalid UTF-8 in bytes, cannot convert to string');
  }
};

const doubleOf = (value: number | undefined): Value | undefined =>
  value === undefined ? undefined : new CelDouble(value);

const uintToInt = ({ value }: CelUint): Value => (value > INT_MAX ? INT_OVERFLOW : intOf(value));
const intToUint = (value: Int): Value => (value < 0 ? UINT_OVERFLOW : new CelUint(BigInt(value)));

const identity = (value: Value): Value => value;
type Conversion = readonly [id: string, from: Type, run: Typed];

const conversions = (fn: string, to: Type, list: readonly Conversion[]): Overload[] =>
  list.map(([id, from, run]) => global([fn, id, [from], to], run));

/** `int(x)`, `string(x)`... and `type(x)`. */
export const STANDARD_CONVERSIONS: Library = {
  name: 'conversions',
  overloads: [
    global(['type', 'type', [A], typeOfType(A)]),
    ...conversions('bool', BOOL, [
      ['bool_to_bool', BOOL, identity],
      ['string_to_bool', STRING, (text: string) => orFail(parseBool(text), BOOL)],
    ]),
    ...conversions('bytes', BYTES, [
      ['bytes_to_bytes', BYTES, identity],
      ['string_to_bytes', STRING, (text: string) => new TextEncoder().encode(text)],
    ]),
    ...conversions('double', DOUBLE, [
      ['double_to_double', DOUBLE, identity],
      ['int64_to_double', INT, (value: Int) => new CelDouble(Number(value))],
      ['string_to_double', STRING, (text: string) => orFail(doubleOf(parseDouble(text)), DOUBLE)],
      ['uint64_to_double', UINT, ({ value }: CelUint) => new CelDouble(Number(value))],
    ]),
    ...conversions('duration', DURATION, [
      ['duration_to_duration', DURATION, identity],
      ['int64_to_duration', INT, () => conversionError('int', DURATION)],
      ['string_to_duration', STRING, (text: string) => orFail(parseDuration(text), DURATION)],
    ]),
    global(['dyn', 'to_dyn', [A], DYN], identity),
    ...conversions('int', INT, [
      ['int64_to_int64', INT, identity],
      ['double_to_int64', DOUBLE, ({ value }: CelDouble) => doubleToInt(value)],
      ['duration_to_int64', DURATION, ({ nanos }: CelDuration) => intOf(nanos)],
      ['string_to_int64', STRING, (text: string) => orFail(parseInt64(text), INT)],
      ['timestamp_to_int64', TIMESTAMP, ({ seconds }: CelTimestamp) => seconds],
      ['uint64_to_int64', UINT, uintToInt],
    ]),
    ...conversions('string', STRING, [
      ['string_to_string', STRING, identity],
      ['bool_to_string', BOOL, String],
      ['bytes_to_string', BYTES, bytesToString],
      ['double_to_string', DOUBLE, ({ value }: CelDouble) => goFloat(value)],
      ['duration_to_string', DURATION, durationText],
      ['int64_to_string', INT, String],
      ['timestamp_to_string', TIMESTAMP, timestampText],
      ['uint64_to_string', UINT, ({ value }: CelUint) => String(value)],
    ]),
    ...conversions('timestamp', TIMESTAMP, [
      ['timestamp_to_timestamp', TIMESTAMP, identity],
      ['int64_to_timestamp', INT, (value: Int) => timestampOf(Number(value), 0)],
      ['string_to_timestamp', STRING, (text: string) => orFail(parseTimestamp(text), TIMESTAMP)],
    ]),
    ...conversions('uint', UINT, [
      ['uint64_to_uint64', UINT, identity],
      ['double_to_uint64', DOUBLE, ({ value }: CelDouble) => doubleToUint(value)],
      ['int64_to_uint64', INT, intToUint],
      ['string_to_uint64', STRING, (text: string) => orFail(parseUint64(text), UINT)],
    ]),
  ],
  dispatch: { type: (value) => new CelType(typeOf(value!)) },
};
