import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  INT,
  STRING,
  TIMESTAMP,
  type Type,
  UINT,
  listOf,
  param,
} from '../types/type.ts';
import { compare, equal } from '../values/compare.ts';
import type { CelList } from '../values/lists.ts';
import { CelDouble, CelDuration, CelError, CelUint, type Value, error } from '../values/value.ts';
import { type Library, member } from './declare.ts';
import type { Overload } from '../values/overload.ts';
import { STANDARD_OPERATORS } from './standard-operators.ts';

const A = param('A');
const add = STANDARD_OPERATORS.dispatch!['_+_']!;

export const COMPARABLE: readonly (readonly [string, Type])[] = [
  ['int', INT],
  ['uint', UINT],
  ['double', DOUBLE],
  ['bool', BOOL],
  ['duration', DURATION],
  ['timestamp', TIMESTAMP],
  ['string', STRING],
  ['bytes', BYTES],
];

const SUMMABLE: readonly (readonly [string, Type, Value])[] = [
  ['int', INT, 0],
  ['uint', UINT, new CelUint(0n)],
  ['double', DOUBLE, new CelDouble(0)],
  ['duration', DURATION, new CelDuration(0n)],
];

const isSorted = (list: CelList): Value => {
  for (let index = 1; index < list.size; index++)
    if (compare(list.at(index - 1), list.at(index)) === 1) return false;
  return true;
};

const sumFrom =
  (zero: Value) =>
  (list: CelList): Value => {
    let sum = zero;
    for (let index = 0; index < list.size; index++) {
      sum = add(sum, list.at(index));
      if (sum instanceof CelError) return sum;
    }
    return sum;
  };

const extreme =
  (name: string, replacedWhen: number) =>
  (list: CelList): Value => {
    if (list.size === 0) return error(`${name} called on empty list`);
    let result = list.at(0);
    for (let index = 1; index < list.size; index++) {
      const next = list.at(index);
      if (compare(result, next) === replacedWhen) result = next;
    }
    return result;
  };

const indexOf = (list: CelList, item: Value): Value => {
  for (let index = 0; index < list.size; index++) if (equal(list.at(index), item) === true) return index;
  return -1;
};
const lastIndexOf = (list: CelList, item: Value): Value => {
  for (let index = list.size - 1; index >= 0; index--) if (equal(list.at(index), item) === true) return index;
  return -1;
};

const perComparable = (
  fn: string,
  id: (name: string) => string,
  result: (type: Type) => Type,
  run: (list: CelList) => Value,
): Overload[] => COMPARABLE.map(([name, type]) => member([fn, id(name), [listOf(type)], result(type)], run));

const element = (type: Type): Type => type;

/** Kubernetes' functions on lists. */
export const KUBERNETES_LISTS: Library = {
  name: 'kubernetes.lists',
  overloads: [
    ...perComparable(
      'isSorted',
      (name) => `list_${name}_is_sorted_bool`,
      () => BOOL,
      isSorted,
    ),
    ...SUMMABLE.map(([name, type, zero]) =>
      member(['sum', `list_${name}_sum_${name}`, [listOf(type)], type], sumFrom(zero)),
    ),
    ...perComparable('max', (name) => `list_${name}_max_${name}`, element, extreme('max', -1)),
    ...perComparable('min', (name) => `list_${name}_min_${name}`, element, extreme('min', 1)),
    member(['indexOf', 'list_a_index_of_int', [listOf(A), A], INT], indexOf),
    member(['lastIndexOf', 'list_a_last_index_of_int', [listOf(A), A], INT], lastIndexOf),
  ],
};
