import { jsonText } from '../meta/json-text.ts';
import type { Json } from '../patch/json.ts';
import { isList, isObject } from '../patch/json.ts';
import type { TypeNode } from '../patch/type-node.ts';
import { UNTYPED } from '../patch/type-node.ts';
import { FieldSet } from './field-set.ts';
import { fieldElement, printElement } from './path-element.ts';
import {
  asList,
  asObject,
  fieldTypeOf,
  isDeclared,
  isEmptyContainer,
  itemElement,
  keyedItems,
  shapeOf,
} from './typed-value.ts';

/** All fields an object sets, down to what its type owns as one piece. */
export const fieldSetOf = (value: Json, type: TypeNode): FieldSet => collect(value, type).below;

function collect(value: Json, type: TypeNode): { readonly self: boolean; readonly below: FieldSet } {
  const below = new FieldSet();
  const shape = shapeOf(value, type);
  if (shape === 'leaf') return { self: true, below };
  if (shape === 'map') {
    for (const [name, held] of Object.entries(asObject(value))) {
      const element = fieldElement(name);
      const found = collect(held, fieldTypeOf(type, name));
      const isEmptyValue = held === null || (isObject(held) && isEmptyContainer(held));
      if (found.self || isEmptyValue || !isDeclared(type, name)) below.members.add(element);
      if (!found.below.isEmpty) below.children.set(element, found.below);
    }
    return { self: false, below };
  }
  const items = keyedItems(value, type);
  const counts = new Map<string, number>();
  for (const { element } of items) counts.set(element, (counts.get(element) ?? 0) + 1);
  for (const { element, item } of items) {
    below.members.add(element);
    // Which of two equal items a path below them means cannot be said, so they are owned as one.
    if ((counts.get(element) ?? 0) > 1) continue;
    const found = collect(item, type.items ?? UNTYPED);
    if (!found.below.isEmpty) below.children.set(element, found.below);
  }
  return { self: false, below };
}

/** What in a configuration does not fit its type, in upstream's words: `.spec.foo: field not declared in schema`. */
export function typeErrors(value: Json, type: TypeNode, path = ''): string[] {
  if (value === null) return [];
  switch (type.kind) {
    case 'untyped':
      return [];
    case 'scalar':
      return scalarErrors(value, type, path);
    case 'struct':
    case 'map':
      if (!isObject(value)) return [`${path}: expected map, got &{${goText(value)}}`];
      return Object.entries(value).flatMap(([name, held]) =>
        type.kind === 'struct' && type.field?.(name) === undefined
          ? [`${path}.${name}: field not declared in schema`]
          : typeErrors(held, fieldTypeOf(type, name), `${path}.${name}`),
      );
    case 'list':
      if (!isList(value)) return [`${path}: expected list, got &{${goText(value)}}`];
      return listErrors(value, type, path);
  }
}

/** As Go prints the value that a typed value holds. */
const goText = (value: Json): string => {
  if (isList(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isObject(value)) return value === null ? '<nil>' : String(value);
  const names = Object.keys(value).sort();
  return `map[${names.map((name) => `${name}:${goText(value[name]!)}`).join(' ')}]`;
};

/** As Go names the type of a value. */
const goTypeOf = (value: Json): string => {
  if (typeof value === 'bigint') return 'int64';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : typeof value;
};

function scalarErrors(value: Json, { scalar }: TypeNode, path: string): string[] {
  if (isObject(value) || isList(value)) return [`${path}: expected scalar, got ${jsonText(value)}`];
  if (scalar === 'numeric' && typeof value !== 'number' && typeof value !== 'bigint')
    return [`${path}: expected numeric (int or float), got ${goTypeOf(value)}`];
  if (scalar === 'string' && typeof value !== 'string')
    return [`${path}: expected string, got ${String(value)}`];
  return scalar === 'boolean' && typeof value !== 'boolean'
    ? [`${path}: expected boolean, got ${String(value)}`]
    : [];
}

function listErrors(list: readonly Json[], type: TypeNode, path: string): string[] {
  const items = type.items ?? UNTYPED;
  if ((type.listType ?? 'atomic') === 'atomic')
    return asList(list).flatMap((item, i) => typeErrors(item, items, `${path}[${i}]`));
  const seen = new Set<string>();
  return list.flatMap((item, i) => {
    const known = itemElement(item, type);
    if ('error' in known) return [`${path}: element ${i}: ${known.error}`];
    const printed = printElement(known.element);
    if (seen.has(known.element)) return [`${path}: duplicate entries for key ${printed}`];
    seen.add(known.element);
    return typeErrors(item, items, `${path}${printed}`);
  });
}
