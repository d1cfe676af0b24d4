import type { Overload } from '../values/overload.ts';
import type { Type } from '../types/type.ts';
import { CelList } from '../values/lists.ts';
import { CelMap } from '../values/maps.ts';
import { CelOptional, type Value, isInt, typeOf } from '../values/value.ts';

type Guard = (value: Value) => boolean;

const ANYTHING: Guard = () => true;

/** Whether a value has a type; of lists and maps only the first element is looked at, as upstream does. */
export const guardOf = (type: Type): Guard => {
  switch (type.kind as string) {
    case 'dyn':
    case 'param':
      return ANYTHING;
    case 'string':
      return (value) => typeof value === 'string';
    case 'int':
      return isInt;
    case 'bool':
      return (value) => typeof value === 'boolean';
    case 'bytes':
      return (value) => value instanceof Uint8Array;
    case 'list':
      return listGuard(guardOf(type.parameters[0]!));
    case 'map':
      return mapGuard(guardOf(type.parameters[0]!), guardOf(type.parameters[1]!));
    case 'opaque':
      if (type.name === 'optional_type') return (value) => value instanceof CelOptional;
      return (value) => typeOf(value).name === type.name;
    default:
      return (value) => typeOf(value).name === type.name;
  }
};

const listGuard = (element: Guard): Guard =>
  element === ANYTHING
    ? (value) => value instanceof CelList
    : (value) => value instanceof CelList && (value.size === 0 || element(value.at(0)));

const mapGuard =
  (key: Guard, element: Guard): Guard =>
  (value) => {
    if (!(value instanceof CelMap)) return false;
    for (const first of value.keys()) return key(first) && element(value.find(first)!);
    return true;
  };

/** Whether arguments fit the parameters of an overload. */
export const signatureGuard = (overload: Overload): ((args: readonly Value[]) => boolean) => {
  const guards = overload.parameters.map(guardOf);
  return (args) => {
    if (args.length !== guards.length) return false;
    for (let at = 0; at < guards.length; at++) if (!guards[at]!(args[at]!)) return false;
    return true;
  };
};
