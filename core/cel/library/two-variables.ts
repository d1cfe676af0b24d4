import { MAP_INSERT, TWO_VARIABLE_MACROS } from '../syntax/macros-two-variables.ts';
import { mapOf, param } from '../types/type.ts';
import { type CelMap, GrowingMap, LiteralMap } from '../values/maps.ts';
import { printValue } from '../values/print.ts';
import { CelError, type Value, error } from '../values/value.ts';
import { type Library, global } from './declare.ts';

const MAP = mapOf(param('K'), param('V'));

const insert = (map: CelMap, key: Value, value: Value): CelMap | CelError => {
  if (map.find(key) !== undefined) return error(`insert failed: key ${printValue(key)} already exists`);
  const target =
    map instanceof GrowingMap
      ? map
      : LiteralMap.of(Array.from(map.keys(), (each) => [each, map.find(each)!] as const));
  target.set(key, value);
  return target;
};

const insertAll = (map: CelMap, update: CelMap): Value => {
  let target = map;
  for (const key of update.keys()) {
    const next = insert(target, key, update.find(key)!);
    if (next instanceof CelError) return next;
    target = next;
  }
  return target;
};

/** Macros over index and element, or key and value. */
export const TWO_VARIABLES: Library = {
  name: 'two-variable-comprehensions',
  macros: TWO_VARIABLE_MACROS,
  overloads: [
    global([MAP_INSERT, '@mapInsert_map_key_value', [MAP, param('K'), param('V')], MAP], insert),
    global([MAP_INSERT, '@mapInsert_map_map', [MAP, MAP], MAP], insertAll),
  ],
};
