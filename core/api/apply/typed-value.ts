import type { Json, JsonObject, MutableObject } from '../patch/json.ts';
import { getOwn, isList, isObject, setOwn } from '../patch/json.ts';
import type { TypeNode } from '../patch/type-node.ts';
import { UNTYPED } from '../patch/type-node.ts';
import { goQuote } from '../field/go-text.ts';
import type { PathElement } from './path-element.ts';
import { keyElement, valueElement } from './path-element.ts';

/** How a value is owned: as one piece, by its keys, or by its items. */
export type Shape = 'leaf' | 'map' | 'list';

/** The type decides where it knows; an untyped value is owned by its keys, its lists as one piece. */
export function shapeOf(value: Json | undefined, type: TypeNode): Shape {
  switch (type.kind) {
    case 'scalar':
      return 'leaf';
    case 'list':
      return (type.listType ?? 'atomic') === 'atomic' || isObject(value) ? 'leaf' : 'list';
    case 'struct':
    case 'map':
      return type.mapType === 'atomic' || isList(value) ? 'leaf' : 'map';
    case 'untyped':
      return isObject(value) && type.mapType !== 'atomic' ? 'map' : 'leaf';
  }
}

export const asObject = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
export const asList = (value: Json | undefined): readonly Json[] => (isList(value) ? value : []);

export const isEmptyContainer = (value: Json | undefined): boolean =>
  value === undefined ||
  value === null ||
  (isList(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0);

/** A field that the type does not have is treated as untyped: live objects may hold what we no longer know. */
export const fieldTypeOf = (type: TypeNode, name: string): TypeNode => {
  if (type.kind === 'struct') return type.field?.(name) ?? UNTYPED;
  return (type.kind === 'map' ? type.values : undefined) ?? UNTYPED;
};

export const isDeclared = (type: TypeNode, name: string): boolean =>
  type.kind === 'struct' && type.field?.(name) !== undefined;

/** What an item of a set or an associative list is known by, or why it cannot be known. */
export function itemElement(
  item: Json,
  listType: TypeNode,
): { readonly element: PathElement } | { readonly error: string } {
  const keys = listType.listType === 'map' ? (listType.listMapKeys ?? []) : [];
  if (keys.length === 0) {
    if (isObject(item)) return { error: "associative list without keys has an element that's a map type" };
    if (isList(item)) return { error: 'not supported: associative list with lists as elements' };
    if (item === null)
      return { error: "associative list without keys has an element that's an explicit null" };
    return { element: valueElement(item) };
  }
  if (item === null) return { error: 'associative list with keys may not have a null element' };
  if (!isObject(item)) return { error: 'associative list with keys may not have non-map elements' };
  const found: MutableObject = {};
  for (const name of keys) {
    const value =
      getOwn(item, name) ?? (fieldTypeOf(listType.items ?? UNTYPED, name).default as Json | undefined);
    if (value !== undefined) setOwn(found, name, value);
  }
  if (Object.keys(found).length === 0)
    return {
      error: `associative list with keys has an element that omits all key fields [${keys.map(goQuote).join(' ')}] (and doesn't have default values for any key fields)`,
    };
  return { element: keyElement(found) };
}

export interface KeyedItem {
  readonly element: PathElement;
  readonly item: Json;
}

/** Items with what they are known by; those that cannot be known are left out. */
export const keyedItems = (list: Json | undefined, type: TypeNode): KeyedItem[] =>
  asList(list).flatMap((item) => {
    const known = itemElement(item, type);
    return 'element' in known ? [{ element: known.element, item }] : [];
  });
