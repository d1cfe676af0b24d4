import { RESULT_SIZE_MAX } from '../bounds.ts';
import type { Expr } from '../syntax/ast.ts';
import { call, ident } from '../syntax/build.ts';
import { type Macro, MacroError } from '../syntax/macro.ts';
import { bind, expandMap } from '../syntax/macros.ts';
import { DYN, INT, type Type, listOf, param } from '../types/type.ts';
import { compare, equal } from '../values/compare.ts';
import { ArrayList, CelList } from '../values/lists.ts';
import { CelError, type Int, NO_SUCH_OVERLOAD, type Value, error, isInt, typeOf } from '../values/value.ts';
import { spendWork } from '../values/work.ts';
import { type Library, global, member } from './declare.ts';
import type { Implementation } from '../values/overload.ts';
import { COMPARABLE } from './lists.ts';

const T = param('T');
const LIST_T = listOf(T);
const LIST_DYN = listOf(DYN);
const SORT_KEYS = '@sortByAssociatedKeys';
const SORT_INPUT = '@__sortBy_input__';

const slice = (list: CelList, start: Int, end: Int): Value => {
  const what = `cannot slice(${start}, ${end})`;
  if (start < 0 || end < 0) return error(`${what}, negative indexes not supported`);
  if (start > end) return error(`${what}, start index must be less than or equal to end index`);
  if (list.size < end) return error(`${what}, list is length ${list.size}`);
  return new ArrayList(
    Array.from({ length: Number(end) - Number(start) }, (_, index) => list.at(Number(start) + index)),
  );
};

const flattenInto = (list: CelList, depth: number, into: Value[]): void => {
  spendWork(list.size);
  for (let index = 0; index < list.size; index++) {
    const value = list.at(index);
    if (value instanceof CelList && depth > 0) flattenInto(value, depth - 1, into);
    else into.push(value);
  }
};

/** Upstream does not check the types of these before the call. */
const flatten: Implementation = (list, depth = 1) => {
  if (!(list instanceof CelList) || !isInt(depth)) return NO_SUCH_OVERLOAD;
  if (depth < 0) return error('level must be non-negative');
  const flat: Value[] = [];
  flattenInto(list, Number(depth), flat);
  return new ArrayList(flat);
};

const sortByKeys: Implementation = (list, keys) => {
  if (!(list instanceof CelList) || !(keys instanceof CelList)) return error('no such overload: sort');
  if (list.size !== keys.size)
    return error(
      `${SORT_KEYS}() expected a list of the same size as the associated keys list, but got ${list.size} and ${keys.size} elements respectively`,
    );
  if (list.size === 0) return list;
  const first = keys.at(0);
  if (compare(first, first) instanceof CelError) return error('list elements must be comparable');
  const values = keys.toArray();
  if (values.some((key) => typeOf(key).name !== typeOf(first).name))
    return error('list elements must have the same type');
  const order = values.map((_, index) => index);
  order.sort((a, b) => {
    const result = compare(values[a]!, values[b]!);
    return typeof result === 'number' ? result : 0;
  });
  return new ArrayList(order.map((index) => list.at(index)));
};

const range = (count: Int): Value => {
  if (count > RESULT_SIZE_MAX) return error(`lists.range exceeds ${RESULT_SIZE_MAX} elements`);
  return new ArrayList(Array.from({ length: Math.max(0, Number(count)) }, (_, index) => index));
};

const distinct = (list: CelList): Value => {
  const unique: Value[] = [];
  const scalars = new Set<Value>();
  for (let index = 0; index < list.size; index++) {
    const value = list.at(index);
    if (typeof value === 'string') {
      if (scalars.has(value)) continue;
      scalars.add(value);
    } else if (unique.some((other) => equal(value, other) === true)) continue;
    unique.push(value);
  }
  return new ArrayList(unique);
};

const SORTABLE: readonly Expr['kind'][] = ['list', 'select', 'ident', 'comprehension', 'call'];

const sortBy: Macro = {
  name: 'sortBy',
  arity: 2,
  isMember: true,
  expand: ({ offset, target, args, copy }) => {
    if (!SORTABLE.includes(target!.kind))
      throw new MacroError(
        target!.offset,
        'sortBy can only be applied to a list, identifier, comprehension, call or select expression',
      );
    const input = (): Expr => ident(offset, SORT_INPUT);
    const keys = expandMap({ offset, target: input(), args, copy });
    return bind(offset, {
      variable: SORT_INPUT,
      init: target!,
      step: input(),
      result: call(offset, SORT_KEYS, [keys], input()),
    });
  },
};

const perComparable = <Made>(make: (name: string, type: Type) => Made): Made[] =>
  // The extension lists the types in another order than Kubernetes' own functions.
  ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'].map((name) => {
    const [, type] = COMPARABLE.find(([known]) => known === name)!;
    return make(type.name, type);
  });

/** The lists extension, version 3. */
export const LISTS_EXTENSION: Library = {
  name: 'lists',
  overloads: [
    member(['slice', 'list_slice', [LIST_T, INT, INT], LIST_T], slice),
    member(['flatten', 'list_flatten', [listOf(LIST_T)], LIST_T]),
    member(['flatten', 'list_flatten_int', [LIST_DYN, INT], LIST_DYN]),
    ...perComparable((name, type) => member(['sort', `list_${name}_sort`, [listOf(type)], listOf(type)])),
    ...perComparable((name, type) =>
      member([SORT_KEYS, `list_${name}_sortByAssociatedKeys`, [LIST_T, listOf(type)], LIST_T]),
    ),
    global(['lists.range', 'lists_range', [INT], listOf(INT)], range),
    member(
      ['reverse', 'list_reverse', [LIST_T], LIST_T],
      (list: CelList) => new ArrayList(list.toArray().reverse()),
    ),
    member(['distinct', 'list_distinct', [LIST_T], LIST_T], distinct),
  ],
  dispatch: { flatten, sort: (list) => sortByKeys(list!, list!), [SORT_KEYS]: sortByKeys },
  macros: [sortBy],
};
