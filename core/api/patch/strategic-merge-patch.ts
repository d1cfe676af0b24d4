import { malformed } from './errors.ts';
import type { Json, JsonObject, MutableObject } from './json.ts';
import { getOwn, goValue, isList, isObject, ObjectDraft, setOwn } from './json.ts';
import {
  checkElementOrder,
  DELETE_FROM_PRIMITIVE_LIST,
  identityOf,
  itemKind,
  noMergeKey,
  orderItems,
  PATCH_DIRECTIVE,
  RETAIN_KEYS,
  SET_ELEMENT_ORDER,
} from './strategic-lists.ts';
import type { TypeNode } from './type-node.ts';
import { fieldOf, UNTYPED } from './type-node.ts';

/**
 * A merge patch that knows the type: lists with a merge key are merged item by item, and directives in the
 * patch delete, replace or order. See sig-api-machinery's strategic-merge-patch document.
 */
export function applyStrategicMergePatch(document: JsonObject, patch: unknown, type: TypeNode): JsonObject {
  if (!isObject(patch)) throw malformed('invalid JSON document');
  if (type.kind === 'untyped') throw malformed('strategic merge patch format is not supported');
  return mergeObject(document, patch, type);
}

const isDirectiveKey = (key: string): boolean =>
  key === RETAIN_KEYS ||
  key.startsWith(`${SET_ELEMENT_ORDER}/`) ||
  key.startsWith(`${DELETE_FROM_PRIMITIVE_LIST}/`);

/** The value that the patch adds: without nulls and without merge directives. Undefined if there is none. */
function contentOf(value: Json): Json | undefined {
  if (isList(value)) return value.map(contentOf).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, PATCH_DIRECTIVE)) return undefined;
  const result: MutableObject = {};
  for (const [key, held] of Object.entries(value)) {
    if (held === null || isDirectiveKey(key)) continue;
    const content = contentOf(held);
    if (content !== undefined) setOwn(result, key, content);
  }
  return result;
}

function place(draft: ObjectDraft, key: string, value: Json): void {
  const content = contentOf(value);
  if (content === undefined) draft.delete(key);
  else draft.set(key, content);
}

function mergeObject(original: JsonObject, patch: JsonObject, type: TypeNode): JsonObject {
  const directive = getOwn(patch, PATCH_DIRECTIVE);
  if (directive !== undefined) return directedObject(directive, patch);
  const draft = new ObjectDraft(original);
  const changes = new Map(Object.entries(patch));
  retainKeys(draft, changes);
  for (const key of [...changes.keys()])
    if (key.startsWith(SET_ELEMENT_ORDER)) mergeInOrder(draft, changes, key, type);
  for (const [key, change] of changes) {
    if (key.startsWith(DELETE_FROM_PRIMITIVE_LIST)) deleteItems(draft, key, change);
    else if (change === null) draft.delete(key);
    else mergeField(draft, key, change, fieldOf(type, key) ?? UNTYPED);
  }
  return draft.result;
}

function directedObject(directive: Json, patch: JsonObject): JsonObject {
  if (directive === 'delete') return {};
  if (directive !== 'replace')
    throw malformed(`unknown patch type: ${goValue(directive)} in map: ${goValue(patch)}`);
  const { [PATCH_DIRECTIVE]: _directive, ...rest } = patch;
  return contentOf(rest) as JsonObject;
}

/** Of a union only the named keys may stay, or an old member would stand beside the new one. */
function retainKeys(draft: ObjectDraft, changes: Map<string, Json>): void {
  const listed = changes.get(RETAIN_KEYS);
  if (listed === undefined) return;
  changes.delete(RETAIN_KEYS);
  if (!isList(listed)) throw malformed('invalid patch format of retainKeys');
  const retained = new Set(listed);
  for (const [key, change] of changes)
    if (change !== null && !isDirectiveKey(key) && !retained.has(key))
      throw malformed('invalid patch format of retainKeys');
  for (const key of Object.keys(draft.result)) if (!retained.has(key)) draft.delete(key);
}

function fieldNameIn(key: string, prefix: string, message: string): string {
  if (!key.startsWith(`${prefix}/`)) throw malformed(message);
  return key.slice(prefix.length + 1);
}

function deleteItems(draft: ObjectDraft, key: string, change: Json): void {
  const message = 'invalid patch format of primitive list';
  const field = fieldNameIn(key, DELETE_FROM_PRIMITIVE_LIST, message);
  const held = draft.get(field);
  if (held === undefined || change === null) return;
  if (!isList(change) || !isList(held)) throw malformed(message);
  const unwanted = new Set(change);
  if (held.some((item) => unwanted.has(item)))
    draft.set(
      field,
      held.filter((item) => !unwanted.has(item)),
    );
}

function mergeField(draft: ObjectDraft, key: string, change: Json, type: TypeNode): void {
  const held = draft.get(key);
  const merges = !(type.patchStrategy ?? '').split(',').includes('replace');
  if (isObject(held) && isObject(change) && merges) draft.set(key, mergeObject(held, change, type));
  else if (isList(held) && isList(change)) draft.set(key, mergeList(held, change, type));
  else place(draft, key, change);
}

const mergesItems = (type: TypeNode): boolean => (type.patchStrategy ?? '').split(',').includes('merge');

function mergeList(original: readonly Json[], patch: readonly Json[], type: TypeNode): readonly Json[] {
  if (!mergesItems(type)) return contentOf(patch) as readonly Json[];
  const kind = itemKind(original, patch);
  if (kind === undefined) return original;
  if (kind === 'scalar')
    return orderItems([...new Set([...original, ...patch])], {
      patchOrder: patch,
      serverOrder: original,
      mergeKey: '',
    });
  const mergeKey = type.patchMergeKey ?? '';
  if (mergeKey === '') throw malformed('cannot merge lists without merge key');
  const { kept, changes } = directedItems(original, patch, mergeKey);
  const merged = mergeItems(kept, changes, mergeKey, type.items ?? UNTYPED);
  return orderItems(merged, { patchOrder: changes, serverOrder: kept, mergeKey });
}

/** Takes `$patch` items out of the patch: deletes what they name, or forgets all that the server had. */
function directedItems(
  original: readonly Json[],
  patch: readonly Json[],
  mergeKey: string,
): { readonly kept: readonly Json[]; readonly changes: readonly JsonObject[] } {
  const changes: JsonObject[] = [];
  let kept = original;
  let replaces = false;
  for (const item of patch as readonly JsonObject[]) {
    const directive = getOwn(item, PATCH_DIRECTIVE);
    if (directive === undefined) changes.push(item);
    else if (directive === 'replace') replaces = true;
    else if (directive === 'merge') throw malformed('merging lists cannot yet be specified in the patch');
    else if (directive !== 'delete')
      throw malformed(`unknown patch type: ${goValue(directive)} in map: ${goValue(item)}`);
    else {
      const unwanted = getOwn(item, mergeKey);
      if (unwanted === undefined) throw noMergeKey(item, mergeKey);
      kept = kept.filter((held) => !isObject(held) || getOwn(held, mergeKey) !== unwanted);
    }
  }
  return replaces ? { kept: contentOf(changes) as readonly Json[], changes: [] } : { kept, changes };
}

function mergeItems(
  original: readonly Json[],
  changes: readonly JsonObject[],
  mergeKey: string,
  type: TypeNode,
): Json[] {
  const merged = [...original];
  const places = new Map<Json, number>();
  merged.forEach((item, i) => {
    const identity = isObject(item) ? getOwn(item, mergeKey) : undefined;
    if (identity !== undefined && !places.has(identity)) places.set(identity, i);
  });
  for (const change of changes) {
    const identity = identityOf(change, mergeKey);
    const at = places.get(identity);
    const held = at === undefined ? undefined : merged[at];
    if (at !== undefined && isObject(held)) {
      merged[at] = mergeObject(held, change, type);
    } else {
      places.set(identity, merged.length);
      merged.push(contentOf(change) ?? {});
    }
  }
  return merged;
}

/** `$setElementOrder/f` orders field f, which the patch may or may not change as well. */
function mergeInOrder(draft: ObjectDraft, changes: Map<string, Json>, key: string, type: TypeNode): void {
  const message = 'invalid patch format of setElementOrder list';
  const order = changes.get(key);
  changes.delete(key);
  const field = fieldNameIn(key, SET_ELEMENT_ORDER, message);
  const held = draft.get(field);
  const change = changes.get(field);
  if (!isList(order) || (held !== undefined && !isList(held))) throw malformed(message);
  if (change !== undefined && !isList(change)) throw malformed(message);
  const fieldType = fieldOf(type, field) ?? UNTYPED;
  const mergeKey = fieldType.patchMergeKey ?? '';
  checkElementOrder(change ?? [], order, mergeKey);
  if (held === undefined && change === undefined) return;
  const merged =
    held === undefined
      ? (contentOf(change ?? []) as readonly Json[])
      : change === undefined
        ? held
        : mergeList(held, change, fieldType);
  changes.delete(field);
  const ordered = orderItems(merged, { patchOrder: order, serverOrder: held ?? [], mergeKey });
  const same =
    held !== undefined && held.length === ordered.length && held.every((item, i) => item === ordered[i]);
  if (!same) draft.set(field, ordered);
}
