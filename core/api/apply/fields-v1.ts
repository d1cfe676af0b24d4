import { ReasonError } from '../../base/errors.ts';
import type { JsonObject, MutableObject } from '../patch/json.ts';
import { isObject, setOwn } from '../patch/json.ts';
import { FieldSet } from './field-set.ts';
import { compareElements, parseElement } from './path-element.ts';

/** The wire form of a field set: nested objects whose keys are path elements, `.` for a parent that is owned. */

/** No object nests deeper, and recursion must end. */
export const FIELDS_DEPTH_MAX = 200;

export function setToFieldsV1(set: FieldSet): JsonObject {
  return emit(set, false);
}

function emit(set: FieldSet, includeSelf: boolean): JsonObject {
  const result: MutableObject = {};
  if (includeSelf && !set.isEmpty) result['.'] = {};
  const elements = new Set([...set.members, ...set.children.keys()]);
  for (const element of [...elements].sort(compareElements)) {
    const child = set.children.get(element);
    const isMember = set.members.has(element);
    if (child === undefined || child.isEmpty) {
      if (isMember) setOwn(result, element, {});
    } else {
      setOwn(result, element, emit(child, isMember));
    }
  }
  return result;
}

export function fieldsV1ToSet(fields: unknown): FieldSet {
  return read(fields, 0).set;
}

function read(fields: unknown, depth: number): { readonly set: FieldSet; readonly isMember: boolean } {
  if (!isObject(fields))
    throw new ReasonError('FieldsMalformed', 'error decoding set: a FieldsV1 entry must be an object');
  if (depth > FIELDS_DEPTH_MAX)
    throw new ReasonError('FieldsMalformed', `error decoding set: deeper than ${FIELDS_DEPTH_MAX} levels`);
  const set = new FieldSet();
  let isMember = false;
  for (const [key, value] of Object.entries(fields)) {
    if (key === '.') {
      isMember = true;
      continue;
    }
    const element = parseElement(key);
    if (element === undefined) continue;
    const below = read(value, depth + 1);
    if (below.isMember) set.members.add(element);
    if (!below.set.isEmpty) set.children.set(element, below.set);
  }
  return { set, isMember: isMember || set.isEmpty };
}
