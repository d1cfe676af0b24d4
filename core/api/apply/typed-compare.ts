import type { Json } from '../patch/json.ts';
import { jsonEquals } from '../patch/json.ts';
import type { TypeNode } from '../patch/type-node.ts';
import { UNTYPED } from '../patch/type-node.ts';
import { FieldSet } from './field-set.ts';
import type { Path } from './path-element.ts';
import { fieldElement } from './path-element.ts';
import type { KeyedItem } from './typed-value.ts';
import { asObject, fieldTypeOf, isEmptyContainer, keyedItems, shapeOf } from './typed-value.ts';

/** How one object differs from another, as sets of fields. */
export interface Comparison {
  readonly removed: FieldSet;
  readonly modified: FieldSet;
  readonly added: FieldSet;
}

export function compareTyped(before: Json, after: Json, type: TypeNode): Comparison {
  const result: Comparison = { removed: new FieldSet(), modified: new FieldSet(), added: new FieldSet() };
  visit(before, after, type, [], result);
  return result;
}

export const excludeFields = (comparison: Comparison, ignored: FieldSet | undefined): Comparison =>
  ignored === undefined
    ? comparison
    : {
        removed: comparison.removed.recursiveDifference(ignored),
        modified: comparison.modified.recursiveDifference(ignored),
        added: comparison.added.recursiveDifference(ignored),
      };

function visit(
  before: Json | undefined,
  after: Json | undefined,
  type: TypeNode,
  path: Path,
  result: Comparison,
): void {
  if (before === after) return;
  const shape = shapeOf(after ?? before, type);
  const differs = before !== undefined && after !== undefined && shapeOf(before, type) !== shape;
  if (shape === 'leaf' || differs || (isEmptyContainer(before) && isEmptyContainer(after))) {
    if (before !== undefined && after !== undefined) {
      if (!jsonEquals(before, after)) result.modified.insert(path);
      return;
    }
  } else if (shape === 'map') {
    const left = asObject(before);
    const right = asObject(after);
    for (const name of new Set([...Object.keys(left), ...Object.keys(right)]))
      visit(left[name], right[name], fieldTypeOf(type, name), [...path, fieldElement(name)], result);
  } else {
    visitItems(keyedItems(before, type), keyedItems(after, type), type.items ?? UNTYPED, path, result);
  }
  if (before === undefined) result.added.insert(path);
  else if (after === undefined) result.removed.insert(path);
}

const group = (items: readonly KeyedItem[]): Map<string, Json[]> => {
  const groups = new Map<string, Json[]>();
  for (const { element, item } of items) {
    const held = groups.get(element);
    if (held === undefined) groups.set(element, [item]);
    else held.push(item);
  }
  return groups;
};

function visitItems(
  before: readonly KeyedItem[],
  after: readonly KeyedItem[],
  type: TypeNode,
  path: Path,
  result: Comparison,
): void {
  const left = group(before);
  const right = group(after);
  for (const element of new Set([...left.keys(), ...right.keys()])) {
    const olds = left.get(element) ?? [];
    const news = right.get(element) ?? [];
    const at = [...path, element];
    if (olds.length <= 1 && news.length <= 1) visit(olds[0], news[0], type, at, result);
    else if (olds.length > 1 && news.length > 1) {
      if (!jsonEquals(olds, news)) result.modified.insert(at);
    } else if (olds.length > 1) {
      if (news.length > 0) visit(undefined, news[0], type, at, result);
      result.removed.insert(at);
    } else {
      if (olds.length > 0) visit(olds[0], undefined, type, at, result);
      result.added.insert(at);
    }
  }
}
