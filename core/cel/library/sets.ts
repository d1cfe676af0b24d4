import { BOOL, listOf, param } from '../types/type.ts';
import { equal } from '../values/compare.ts';
import type { CelList } from '../values/lists.ts';
import type { Value } from '../values/value.ts';
import { spendWork } from '../values/work.ts';
import { type Library, global } from './declare.ts';

const LIST = listOf(param('T'));

const has = (list: CelList, value: Value): boolean => {
  spendWork(list.size);
  for (let index = 0; index < list.size; index++) if (equal(value, list.at(index)) === true) return true;
  return false;
};
const contains = (list: CelList, part: CelList): boolean => {
  for (let index = 0; index < part.size; index++) if (!has(list, part.at(index))) return false;
  return true;
};
const intersects = (a: CelList, b: CelList): boolean => {
  for (let index = 0; index < a.size; index++) if (has(b, a.at(index))) return true;
  return false;
};

/** Lists as sets. */
export const SETS: Library = {
  name: 'sets',
  overloads: [
    global(['sets.contains', 'list_sets_contains_list', [LIST, LIST], BOOL], contains),
    global(
      ['sets.equivalent', 'list_sets_equivalent_list', [LIST, LIST], BOOL],
      (a: CelList, b: CelList) => contains(a, b) && contains(b, a),
    ),
    global(['sets.intersects', 'list_sets_intersects_list', [LIST, LIST], BOOL], intersects),
  ],
};
