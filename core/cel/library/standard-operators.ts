import { RESULT_SIZE_MAX } from '../bounds.ts';
import { sizeOf } from '../cost/runtime.ts';
import { OPERATOR } from '../syntax/ast.ts';
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
  mapOf,
  param,
} from '../types/type.ts';
import { access } from '../values/access.ts';
import { compare, equal } from '../values/compare.ts';
import {
  DIVISION_BY_ZERO,
  MODULUS_BY_ZERO,
  addInt,
  checkedUint,
  divideInt,
  moduloInt,
  multiplyInt,
  negateInt,
  subtractInt,
} from '../values/integers.ts';
import { CelList } from '../values/lists.ts';
import { CelMap } from '../values/maps.ts';
import { addDuration, durationOf, subtractDuration, subtractTimestamps } from '../values/time.ts';
import {
  CelDouble,
  CelDuration,
  CelError,
  CelTimestamp,
  CelUint,
  NO_SUCH_OVERLOAD,
  type Value,
  error,
  isInt,
} from '../values/value.ts';
import { type Library, global, member } from './declare.ts';
import type { Implementation, Overload } from '../values/overload.ts';

const A = param('A');
const B = param('B');

/** Upstream names the operator only if the type of the left side has no such operator at all. */
const unsupported = (fn: string, left: Value): CelError =>
  typeof left === 'string' || left instanceof CelTimestamp || left instanceof CelDuration
    ? NO_SUCH_OVERLOAD
    : error(`no such overload: ${fn}`);

const concatBytes = (a: Uint8Array, b: Uint8Array): Uint8Array => {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
};

const concatStrings = (a: string, b: string): Value =>
  a.length + b.length > RESULT_SIZE_MAX ? error(`string exceeds ${RESULT_SIZE_MAX} characters`) : a + b;

const concatLists = (a: CelList, b: CelList): Value =>
  a.size + b.size > RESULT_SIZE_MAX ? error(`list exceeds ${RESULT_SIZE_MAX} elements`) : a.concat(b);

const addTimes = (a: CelTimestamp | CelDuration, b: Value): Value => {
  if (a instanceof CelTimestamp) return b instanceof CelDuration ? addDuration(a, b) : NO_SUCH_OVERLOAD;
  if (b instanceof CelTimestamp) return addDuration(b, a);
  return b instanceof CelDuration ? durationOf(a.nanos + b.nanos) : NO_SUCH_OVERLOAD;
};

const add: Implementation = (a, b) => {
  if (isInt(a!)) return isInt(b!) ? addInt(a, b) : NO_SUCH_OVERLOAD;
  if (typeof a === 'string') return typeof b === 'string' ? concatStrings(a, b) : NO_SUCH_OVERLOAD;
  if (a instanceof CelList) return b instanceof CelList ? concatLists(a, b) : NO_SUCH_OVERLOAD;
  if (a instanceof CelDouble)
    return b instanceof CelDouble ? new CelDouble(a.value + b.value) : NO_SUCH_OVERLOAD;
  if (a instanceof CelUint) return b instanceof CelUint ? checkedUint(a.value + b.value) : NO_SUCH_OVERLOAD;
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? concatBytes(a, b) : NO_SUCH_OVERLOAD;
  if (a instanceof CelTimestamp || a instanceof CelDuration) return addTimes(a, b!);
  return unsupported(OPERATOR.add, a!);
};

const subtract: Implementation = (a, b) => {
  if (isInt(a!)) return isInt(b!) ? subtractInt(a, b) : NO_SUCH_OVERLOAD;
  if (a instanceof CelDouble)
    return b instanceof CelDouble ? new CelDouble(a.value - b.value) : NO_SUCH_OVERLOAD;
  if (a instanceof CelUint) return b instanceof CelUint ? checkedUint(a.value - b.value) : NO_SUCH_OVERLOAD;
  if (a instanceof CelTimestamp) {
    if (b instanceof CelTimestamp) return subtractTimestamps(a, b);
    return b instanceof CelDuration ? subtractDuration(a, b) : NO_SUCH_OVERLOAD;
  }
  if (a instanceof CelDuration)
    return b instanceof CelDuration ? durationOf(a.nanos - b.nanos) : NO_SUCH_OVERLOAD;
  return unsupported(OPERATOR.subtract, a!);
};

const multiply: Implementation = (a, b) => {
  if (isInt(a!)) return isInt(b!) ? multiplyInt(a, b) : NO_SUCH_OVERLOAD;
  if (a instanceof CelDouble)
    return b instanceof CelDouble ? new CelDouble(a.value * b.value) : NO_SUCH_OVERLOAD;
  if (a instanceof CelUint) return b instanceof CelUint ? checkedUint(a.value * b.value) : NO_SUCH_OVERLOAD;
  return unsupported(OPERATOR.multiply, a!);
};

const divide: Implementation = (a, b) => {
  if (isInt(a!)) return isInt(b!) ? divideInt(a, b) : NO_SUCH_OVERLOAD;
  if (a instanceof CelDouble)
    return b instanceof CelDouble ? new CelDouble(a.value / b.value) : NO_SUCH_OVERLOAD;
  if (a instanceof CelUint) {
    if (!(b instanceof CelUint)) return NO_SUCH_OVERLOAD;
    return b.value === 0n ? DIVISION_BY_ZERO : new CelUint(a.value / b.value);
  }
  return unsupported(OPERATOR.divide, a!);
};

const modulo: Implementation = (a, b) => {
  if (isInt(a!)) return isInt(b!) ? moduloInt(a, b) : NO_SUCH_OVERLOAD;
  if (a instanceof CelUint) {
    if (!(b instanceof CelUint)) return NO_SUCH_OVERLOAD;
    return b.value === 0n ? MODULUS_BY_ZERO : new CelUint(a.value % b.value);
  }
  return unsupported(OPERATOR.modulo, a!);
};

const negate: Implementation = (a) => {
  if (isInt(a!)) return negateInt(a);
  if (a instanceof CelDouble) return new CelDouble(-a.value);
  if (a instanceof CelDuration) return durationOf(-a.nanos);
  return typeof a === 'boolean' ? NO_SUCH_OVERLOAD : unsupported(OPERATOR.negate, a!);
};

const isOrdered = (value: Value): boolean =>
  value !== null && (typeof value !== 'object' || value instanceof Uint8Array || isOrderedObject(value));
const isOrderedObject = (value: Value): boolean =>
  value instanceof CelDouble ||
  value instanceof CelUint ||
  value instanceof CelTimestamp ||
  value instanceof CelDuration;

const ordering =
  (fn: string, holds: (order: number) => boolean): Implementation =>
  (a, b) => {
    if (typeof a === 'number' && typeof b === 'number') return holds(a < b ? -1 : a > b ? 1 : 0);
    if (!isOrdered(a!)) return unsupported(fn, a!);
    const order = compare(a!, b!);
    return typeof order === 'number' ? holds(order) : order;
  };

const contains: Implementation = (element, container) => {
  if (container instanceof CelMap) {
    const found = container.find(element!);
    return found instanceof CelError ? found : found !== undefined;
  }
  if (!(container instanceof CelList)) return NO_SUCH_OVERLOAD;
  for (let index = 0; index < container.size; index++)
    if (equal(element!, container.at(index)) === true) return true;
  return false;
};

const size: Implementation = (value) =>
  typeof value === 'string' ||
  value instanceof Uint8Array ||
  value instanceof CelList ||
  value instanceof CelMap
    ? sizeOf(value)
    : unsupported('size', value!);

const not: Implementation = (value) => (typeof value === 'boolean' ? !value : NO_SUCH_OVERLOAD);

const ORDERED: readonly (readonly [string, Type, Type])[] = [
  ['bool', BOOL, BOOL],
  ['int64', INT, INT],
  ['int64_double', INT, DOUBLE],
  ['int64_uint64', INT, UINT],
  ['uint64', UINT, UINT],
  ['uint64_double', UINT, DOUBLE],
  ['uint64_int64', UINT, INT],
  ['double', DOUBLE, DOUBLE],
  ['double_int64', DOUBLE, INT],
  ['double_uint64', DOUBLE, UINT],
  ['string', STRING, STRING],
  ['bytes', BYTES, BYTES],
  ['timestamp', TIMESTAMP, TIMESTAMP],
  ['duration', DURATION, DURATION],
];
const orderedOverloads = (fn: string, prefix: string): Overload[] =>
  ORDERED.map(([suffix, left, right]) => global([fn, `${prefix}_${suffix}`, [left, right], BOOL]));

const same = (fn: string, prefix: string, types: readonly (readonly [string, Type])[]): Overload[] =>
  types.map(([suffix, type]) => global([fn, `${prefix}_${suffix}`, [type, type], type]));

const NUMERIC = [
  ['double', DOUBLE],
  ['int64', INT],
  ['uint64', UINT],
] as const;

const sizeOverloads = [
  ['bytes', BYTES],
  ['list', listOf(A)],
  ['map', mapOf(A, B)],
  ['string', STRING],
] as const;

/** The operators of the language, most of which choose what to do by the values. */
export const STANDARD_OPERATORS: Library = {
  name: 'operators',
  overloads: [
    global([OPERATOR.conditional, 'conditional', [BOOL, A, A], A]),
    global([OPERATOR.and, 'logical_and', [BOOL, BOOL], BOOL]),
    global([OPERATOR.or, 'logical_or', [BOOL, BOOL], BOOL]),
    global([OPERATOR.not, 'logical_not', [BOOL], BOOL]),
    global([OPERATOR.notStrictlyFalse, 'not_strictly_false', [BOOL], BOOL]),
    global([OPERATOR.equals, 'equals', [A, A], BOOL]),
    global([OPERATOR.notEquals, 'not_equals', [A, A], BOOL]),
    ...same(OPERATOR.add, 'add', [
      ['bytes', BYTES],
      ['double', DOUBLE],
    ]),
    global([OPERATOR.add, 'add_duration_duration', [DURATION, DURATION], DURATION]),
    global([OPERATOR.add, 'add_duration_timestamp', [DURATION, TIMESTAMP], TIMESTAMP]),
    global([OPERATOR.add, 'add_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP]),
    ...same(OPERATOR.add, 'add', [
      ['int64', INT],
      ['list', listOf(A)],
      ['string', STRING],
      ['uint64', UINT],
    ]),
    ...same(OPERATOR.divide, 'divide', NUMERIC),
    ...same(OPERATOR.modulo, 'modulo', NUMERIC.slice(1)),
    ...same(OPERATOR.multiply, 'multiply', NUMERIC),
    global([OPERATOR.negate, 'negate_double', [DOUBLE], DOUBLE]),
    global([OPERATOR.negate, 'negate_int64', [INT], INT]),
    global([OPERATOR.subtract, 'subtract_double', [DOUBLE, DOUBLE], DOUBLE]),
    global([OPERATOR.subtract, 'subtract_duration_duration', [DURATION, DURATION], DURATION]),
    global([OPERATOR.subtract, 'subtract_int64', [INT, INT], INT]),
    global([OPERATOR.subtract, 'subtract_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP]),
    global([OPERATOR.subtract, 'subtract_timestamp_timestamp', [TIMESTAMP, TIMESTAMP], DURATION]),
    global([OPERATOR.subtract, 'subtract_uint64', [UINT, UINT], UINT]),
    ...orderedOverloads(OPERATOR.less, 'less'),
    ...orderedOverloads(OPERATOR.lessEquals, 'less_equals'),
    ...orderedOverloads(OPERATOR.greater, 'greater'),
    ...orderedOverloads(OPERATOR.greaterEquals, 'greater_equals'),
    global([OPERATOR.index, 'index_list', [listOf(A), INT], A]),
    global([OPERATOR.index, 'index_map', [mapOf(A, B), A], B]),
    global([OPERATOR.in, 'in_list', [A, listOf(A)], BOOL]),
    global([OPERATOR.in, 'in_map', [A, mapOf(A, B)], BOOL]),
    ...sizeOverloads.flatMap(([name, type]) => [
      global(['size', `size_${name}`, [type], INT]),
      member(['size', `${name}_size`, [type], INT]),
    ]),
  ],
  dispatch: {
    [OPERATOR.not]: not,
    [OPERATOR.notStrictlyFalse]: (value) => (typeof value === 'boolean' ? value : true),
    [OPERATOR.equals]: (a, b) => equal(a!, b!),
    [OPERATOR.notEquals]: (a, b) => equal(a!, b!) !== true,
    [OPERATOR.add]: add,
    [OPERATOR.subtract]: subtract,
    [OPERATOR.multiply]: multiply,
    [OPERATOR.divide]: divide,
    [OPERATOR.modulo]: modulo,
    [OPERATOR.negate]: negate,
    [OPERATOR.less]: ordering(OPERATOR.less, (order) => order < 0),
    [OPERATOR.lessEquals]: ordering(OPERATOR.lessEquals, (order) => order <= 0),
    [OPERATOR.greater]: ordering(OPERATOR.greater, (order) => order > 0),
    [OPERATOR.greaterEquals]: ordering(OPERATOR.greaterEquals, (order) => order >= 0),
    [OPERATOR.index]: (of, key) => access(of!, key!),
    [OPERATOR.in]: contains,
    size,
  },
};
