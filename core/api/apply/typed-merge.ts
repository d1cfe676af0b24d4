import type { Json, JsonObject, MutableObject } from '../patch/json.ts';
import { isObject, setOwn } from '../patch/json.ts';
import type { TypeNode } from '../patch/type-node.ts';
import { UNTYPED } from '../patch/type-node.ts';
import type { FieldSet } from './field-set.ts';
import { fieldElement } from './path-element.ts';
import {
  asList,
  asObject,
  fieldTypeOf,
  isEmptyContainer,
  itemElement,
  keyedItems,
  shapeOf,
} from './typed-value.ts';

/** The live object with the configuration laid over it; untouched parts are shared with the live object. */
export const mergeTyped = (live: JsonObject, config: JsonObject, type: TypeNode): JsonObject =>
  asObject(merge(live, config, type));

/** Null in a configuration means that the field is to be absent. */
function merge(live: Json | undefined, config: Json | undefined, type: TypeNode): Json | undefined {
  if (config === undefined) return live;
  if (config === null) return undefined;
  const shape = shapeOf(config, type);
  if (shape === 'leaf' || (isEmptyContainer(live) && isEmptyContainer(config))) return config;
  if (shape === 'list') return mergeItems(live, config, type);
  const left = asObject(live);
  const result: MutableObject = { ...left };
  let changed = !isObject(live);
  for (const [name, value] of Object.entries(asObject(config))) {
    const merged = merge(left[name], value, fieldTypeOf(type, name));
    if (merged === left[name]) continue;
    changed = true;
    if (merged === undefined) delete result[name];
    else setOwn(result, name, merged);
  }
  return changed ? result : left;
}

/**
 * Items of the configuration stand in its order, items that only live stand where they stood relative to
 * those that both have.
 */
function mergeItems(live: Json | undefined, config: Json, type: TypeNode): Json {
  const left = keyedItems(live, type);
  const right = keyedItems(config, type);
  const itemType = type.items ?? UNTYPED;
  const counts = new Map<string, number>();
  for (const { element } of left) counts.set(element, (counts.get(element) ?? 0) + 1);
  // Items that live has twice are replaced by the one of the configuration, not merged with either.
  const liveByElement = new Map(left.map(({ element, item }) => [element, item]));
  const configured = new Set(right.map(({ element }) => element));
  const pending = right.filter(({ element }) => liveByElement.has(element)).map(({ element }) => element);
  const done = new Set<string>();
  const out: Json[] = [];
  const take = (position: number): void => {
    const { element, item } = right[position] as (typeof right)[number];
    const held = counts.get(element) === 1 ? liveByElement.get(element) : undefined;
    const merged = merge(held, item, itemType);
    if (merged !== undefined) out.push(merged);
    done.add(element);
    if (pending[0] === element) pending.shift();
  };
  let l = 0;
  let r = 0;
  while (l < left.length || r < right.length) {
    const here = left[l];
    const next = right[r];
    if (here !== undefined && next !== undefined) {
      if (here.element === next.element) {
        take(r);
        l += 1;
        r += 1;
        continue;
      }
      if (configured.has(here.element) && pending.length > 0 && pending[0] !== here.element) {
        // It has moved in the configuration and is taken from there.
        l += 1;
        continue;
      }
    }
    if (here !== undefined) {
      if (!configured.has(here.element)) {
        out.push(here.item);
        l += 1;
        continue;
      }
      if (done.has(here.element)) l += 1;
    }
    if (next !== undefined) {
      take(r);
      r += 1;
    }
  }
  const held = asList(live);
  return held.length === out.length && out.every((item, i) => item === held[i]) ? held : out;
}

/** The object without the given fields. Containers that become empty go with their last content. */
export const removeFields = (value: JsonObject, unwanted: FieldSet, type: TypeNode): JsonObject =>
  asObject(remove(value, unwanted, type));

function remove(value: Json, unwanted: FieldSet, type: TypeNode): Json | undefined {
  if (unwanted.isEmpty) return value;
  const shape = shapeOf(value, type);
  if (shape === 'leaf') return value;
  if (shape === 'map') {
    const result: MutableObject = {};
    for (const [name, held] of Object.entries(asObject(value))) {
      const element = fieldElement(name);
      if (unwanted.members.has(element)) continue;
      const below = unwanted.children.get(element);
      const rest = below === undefined ? held : remove(held, below, fieldTypeOf(type, name));
      if (rest !== undefined) setOwn(result, name, rest);
    }
    return Object.keys(result).length > 0 ? result : undefined;
  }
  const kept = asList(value).flatMap((item): Json[] => {
    const known = itemElement(item, type);
    if (!('element' in known)) return [item];
    if (unwanted.members.has(known.element)) return [];
    const below = unwanted.children.get(known.element);
    const rest = below === undefined ? item : remove(item, below, type.items ?? UNTYPED);
    return rest === undefined ? [] : [rest];
  });
  return kept.length > 0 ? kept : undefined;
}
