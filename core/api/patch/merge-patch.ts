import { malformed } from './errors.ts';
import type { Json, JsonObject, MutableObject } from './json.ts';
import { isList, isObject, ObjectDraft, setOwn } from './json.ts';

/** Null means absence, so an object that is new may not bring any. */
export function withoutNulls(value: Json): Json {
  if (isList(value)) {
    const items = value.map((item) => (item === null ? null : withoutNulls(item)));
    return items.every((item, i) => item === value[i]) ? value : items;
  }
  if (!isObject(value)) return value;
  const result: MutableObject = {};
  let changed = false;
  for (const [key, held] of Object.entries(value)) {
    if (held === null) {
      changed = true;
      continue;
    }
    const clean = withoutNulls(held);
    if (clean !== held) changed = true;
    setOwn(result, key, clean);
  }
  return changed ? result : value;
}

function merge(current: JsonObject, patch: JsonObject): JsonObject {
  const draft = new ObjectDraft(current);
  for (const [key, change] of Object.entries(patch)) {
    const held = draft.get(key);
    if (change === null) draft.delete(key);
    else if (isObject(held) && isObject(change)) draft.set(key, merge(held, change));
    // Upstream keeps nulls inside a list that takes the place of an object.
    else draft.set(key, isObject(held) ? change : withoutNulls(change));
  }
  return draft.result;
}

/** RFC 7386. */
export function applyMergePatch(document: JsonObject, patch: unknown): JsonObject {
  if (!isObject(patch)) throw malformed('Invalid JSON Patch');
  return merge(document, patch);
}
