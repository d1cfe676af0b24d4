import { OPERATOR } from '../syntax/ast.ts';
import { OPTIONAL_MACROS } from '../syntax/macros.ts';
import { BOOL, DYN, INT, OPTIONAL, STRING, listOf, mapOf, optionalOf, param } from '../types/type.ts';
import { ArrayList, CelList } from '../values/lists.ts';
import { CelMap } from '../values/maps.ts';
import { printValue } from '../values/print.ts';
import {
  CelDouble,
  CelDuration,
  CelOptional,
  CelTimestamp,
  CelUint,
  type Value,
  error,
} from '../values/value.ts';
import { type Library, global, member } from './declare.ts';

const K = param('K');
const V = param('V');
const OPT_V = optionalOf(V);
const LIST_V = listOf(V);
const MAP_KV = mapOf(K, V);
/** The year 1, which is what Go takes for no time. */
const ZERO_SECONDS = -62_135_596_800;

const isZeroObject = (value: Value): boolean => {
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof CelList || value instanceof CelMap) return value.size === 0;
  if (value instanceof CelDouble) return value.value === 0;
  if (value instanceof CelUint) return value.value === 0n;
  if (value instanceof CelDuration) return value.nanos === 0n;
  return value instanceof CelTimestamp && value.seconds === ZERO_SECONDS && value.nanos === 0;
};
const isZero = (value: Value): boolean =>
  value === null || value === false || value === 0 || value === '' || isZeroObject(value);

const unwrap = (list: CelList): Value => {
  const values: Value[] = [];
  for (let index = 0; index < list.size; index++) {
    const each = list.at(index);
    if (!(each instanceof CelOptional)) return error(`value ${printValue(each)} is not optional`);
    if (each.value !== undefined) values.push(each.value);
  }
  return new ArrayList(values);
};
const elementAt = (list: CelList, index: number): Value =>
  list.size === 0 ? CelOptional.none : CelOptional.of(list.at(index));

/** Values that may be absent, with the syntax `a.?b` and `a[?b]`. */
export const OPTIONALS: Library = {
  name: 'optionals',
  types: [OPTIONAL],
  macros: OPTIONAL_MACROS,
  overloads: [
    global(['optional.of', 'optional_of', [V], OPT_V], (value: Value) => CelOptional.of(value)),
    global(['optional.ofNonZeroValue', 'optional_ofNonZeroValue', [V], OPT_V], (value: Value) =>
      isZero(value) ? CelOptional.none : CelOptional.of(value),
    ),
    global(['optional.none', 'optional_none', [], OPT_V], () => CelOptional.none),
    member(['value', 'optional_value', [OPT_V], V], ({ value }: CelOptional) =>
      value === undefined ? error('optional.none() dereference') : value,
    ),
    member(['hasValue', 'optional_hasValue', [OPT_V], BOOL], ({ value }: CelOptional) => value !== undefined),
    // Evaluated without calling them: their right side is needed only if the left one has no value.
    member(['or', 'optional_or_optional', [OPT_V, OPT_V], OPT_V]),
    member(['orValue', 'optional_orValue_value', [OPT_V, V], V]),
    global([OPERATOR.optSelect, 'select_optional_field', [DYN, STRING], OPT_V]),
    global([OPERATOR.optIndex, 'list_optindex_optional_int', [LIST_V, INT], OPT_V]),
    global([OPERATOR.optIndex, 'optional_list_optindex_optional_int', [optionalOf(LIST_V), INT], OPT_V]),
    global([OPERATOR.optIndex, 'map_optindex_optional_value', [MAP_KV, K], OPT_V]),
    global([OPERATOR.optIndex, 'optional_map_optindex_optional_value', [optionalOf(MAP_KV), K], OPT_V]),
    global([OPERATOR.index, 'optional_list_index_int', [optionalOf(LIST_V), INT], OPT_V]),
    global([OPERATOR.index, 'optional_map_index_value', [optionalOf(MAP_KV), K], OPT_V]),
    member(['last', 'list_last', [LIST_V], OPT_V], (list: CelList) => elementAt(list, list.size - 1)),
    member(['first', 'list_first', [LIST_V], OPT_V], (list: CelList) => elementAt(list, 0)),
    global(['optional.unwrap', 'optional_unwrap', [listOf(OPT_V)], LIST_V], unwrap),
    member(['unwrapOpt', 'optional_unwrapOpt', [listOf(OPT_V)], LIST_V], unwrap),
  ],
};
