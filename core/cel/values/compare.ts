import { CelList } from './lists.ts';
import { CelMap } from './maps.ts';
import type { CelError, CelObject } from './value.ts';
import { spendWork } from './work.ts';
import {
  CelDouble,
  CelDuration,
  CelOptional,
  CelTimestamp,
  CelType,
  CelUint,
  NO_SUCH_OVERLOAD,
  type Value,
  error,
} from './value.ts';

const NAN_ORDER = error('NaN values cannot be ordered');

/** A value that decides on its own what it equals. */
export interface SelfEqual {
  equals(other: Value): boolean | CelError;
}
const isSelfEqual = (value: object): value is SelfEqual => 'equals' in value;

/** JavaScript compares numbers and bigints of different kinds exactly. */
const numberOf = (value: Value): number | bigint | undefined => {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (value instanceof CelDouble) return value.value;
  return value instanceof CelUint ? value.value : undefined;
};

/** A double and an integer compare as doubles, which is not exact beyond 2^53; upstream does the same. */
const isDoublePair = (a: Value, b: Value): boolean => a instanceof CelDouble || b instanceof CelDouble;

const equalBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, at) => byte === b[at]);

export const equalLists = (a: CelList, b: CelList): boolean => {
  if (a.size !== b.size) return false;
  spendWork(a.size);
  for (let index = 0; index < a.size; index++) if (equal(a.at(index), b.at(index)) === false) return false;
  return true;
};

export const equalMaps = (a: CelMap, b: CelMap): boolean => {
  if (a.size !== b.size) return false;
  spendWork(a.size);
  for (const key of a.keys()) {
    const other = b.find(key);
    if (other === undefined || equal(a.find(key)!, other) === false) return false;
  }
  return true;
};

/** Equality across types: different types are unequal, numbers compare by value. Some host types fail instead. */
export const equal = (a: Value, b: Value): boolean | CelError => {
  if (typeof a === 'string' || typeof a === 'boolean' || a === null || b === null) return a === b;
  const number = numberOf(a);
  if (number !== undefined) {
    const other = numberOf(b);
    if (other === undefined) return false;
    if (isDoublePair(a, b)) return Number(number) === Number(other);
    // eslint-disable-next-line eqeqeq -- an int and a uint of the same value are equal
    return number == other;
  }
  if (a instanceof Uint8Array) return b instanceof Uint8Array && equalBytes(a, b);
  return equalObjects(a as CelObject, b);
};

const equalObjects = (a: CelObject, b: Value): boolean | CelError => {
  if (isSelfEqual(a)) return a.equals(b);
  if (a instanceof CelList) return b instanceof CelList && equalLists(a, b);
  if (a instanceof CelMap) return b instanceof CelMap && equalMaps(a, b);
  if (a instanceof CelTimestamp)
    return b instanceof CelTimestamp && a.seconds === b.seconds && a.nanos === b.nanos;
  if (a instanceof CelDuration) return b instanceof CelDuration && a.nanos === b.nanos;
  if (a instanceof CelType) return b instanceof CelType && a.denoted.name === b.denoted.name;
  if (a instanceof CelOptional) {
    if (!(b instanceof CelOptional)) return false;
    if (a.value === undefined || b.value === undefined) return a.value === b.value;
    return equal(a.value, b.value);
  }
  return a === b;
};

/** Strings compare by code point, which differs from UTF-16 order only where surrogates are. */
export const compareStrings = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const x = a.charCodeAt(at);
    const y = b.charCodeAt(at);
    if (x === y) continue;
    const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;
    if (isHigh(x) !== isHigh(y)) return isHigh(x) ? 1 : -1;
    return x < y ? -1 : 1;
  }
  return Math.sign(a.length - b.length);
};

const compareBytes = (a: Uint8Array, b: Uint8Array): number => {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) if (a[at] !== b[at]) return a[at]! < b[at]! ? -1 : 1;
  return Math.sign(a.length - b.length);
};

const order = <T extends number | bigint>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/** -1, 0 or 1; an error if the values have no order. */
export const compare = (a: Value, b: Value): number | CelError => {
  const number = numberOf(a);
  if (number !== undefined) {
    const other = numberOf(b);
    if (other === undefined) return NO_SUCH_OVERLOAD;
    if (Number.isNaN(number) || Number.isNaN(other)) return NAN_ORDER;
    if (isDoublePair(a, b)) return order(Number(number), Number(other));
    return number < other ? -1 : number > other ? 1 : 0;
  }
  if (typeof a === 'string') return typeof b === 'string' ? compareStrings(a, b) : NO_SUCH_OVERLOAD;
  if (typeof a === 'boolean') return typeof b === 'boolean' ? order(Number(a), Number(b)) : NO_SUCH_OVERLOAD;
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? compareBytes(a, b) : NO_SUCH_OVERLOAD;
  if (a instanceof CelTimestamp && b instanceof CelTimestamp)
    return order(a.seconds, b.seconds) || order(a.nanos, b.nanos);
  if (a instanceof CelDuration && b instanceof CelDuration) return order(a.nanos, b.nanos);
  return NO_SUCH_OVERLOAD;
};
