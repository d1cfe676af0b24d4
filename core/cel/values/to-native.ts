import { CelList } from './lists.ts';
import { CelMap } from './maps.ts';
import { printValue } from './print.ts';
import { LiteralStruct } from './structs.ts';
import { durationText, timestampText } from './time.ts';
import { CelDouble, CelDuration, CelOptional, CelTimestamp, CelType, CelUint, type Value } from './value.ts';

const entriesOf = (map: CelMap): (readonly [string, unknown])[] =>
  Array.from(map.keys(), (key) => [printValue(key), toNative(map.find(key)!)] as const);

/** A value as JSON data: what a host stores or sends of the result of an expression. */
export const toNative = (value: Value): unknown => {
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof CelList) return value.toArray().map(toNative);
  if (value instanceof CelMap) return Object.fromEntries(entriesOf(value));
  if (value instanceof LiteralStruct)
    return Object.fromEntries(Array.from(value.fields, ([name, field]) => [name, toNative(field)]));
  if (value instanceof CelDouble) return value.value;
  if (value instanceof CelUint) return value.value;
  if (value instanceof CelTimestamp) return timestampText(value);
  if (value instanceof CelDuration) return durationText(value);
  if (value instanceof CelOptional) return value.value === undefined ? undefined : toNative(value.value);
  return value instanceof CelType ? value.denoted.name : value;
};
