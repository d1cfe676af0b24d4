import { goFloat } from './floats.ts';
import { CelList } from './lists.ts';
import { CelMap } from './maps.ts';
import { durationText, timestampText } from './time.ts';
import {
  CelDouble,
  CelDuration,
  CelError,
  CelOptional,
  CelTimestamp,
  CelType,
  CelUint,
  type Value,
  typeOf,
} from './value.ts';
import type { TypeKind } from '../types/type.ts';

const GO_TYPES: Readonly<Partial<Record<TypeKind, string>>> = {
  int: 'types.Int',
  uint: 'types.Uint',
  double: 'types.Double',
  bool: 'types.Bool',
  string: 'types.String',
  bytes: 'types.Bytes',
  null: 'types.Null',
  timestamp: 'types.Timestamp',
  duration: 'types.Duration',
  type: '*types.Type',
};

/** The type of a value as upstream's own language names it, for the few error texts that do. */
export const goTypeName = (value: Value): string => {
  const type = typeOf(value);
  return GO_TYPES[type.kind] ?? type.name;
};

/** A value as error texts show it (Go's `%v`). */
export const printValue = (value: Value): string => {
  if (value === null) return '0';
  if (typeof value !== 'object') return String(value);
  if (value instanceof Uint8Array) return `[${[...value].join(' ')}]`;
  if (value instanceof CelDouble) return goFloat(value.value);
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof CelTimestamp) return timestampText(value);
  if (value instanceof CelDuration) return durationText(value);
  if (value instanceof CelType) return value.denoted.name;
  if (value instanceof CelError) return value.message;
  if (value instanceof CelList) return `[${value.toArray().map(printValue).join(', ')}]`;
  if (value instanceof CelMap)
    return `{${[...value.keys()].map((key) => `${printValue(key)}: ${printValue(value.find(key)!)}`).join(', ')}}`;
  if (value instanceof CelOptional)
    return value.value === undefined ? 'optional.none()' : `optional(${printValue(value.value)})`;
  return value.type.name;
};
