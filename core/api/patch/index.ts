export type { Json, JsonObject } from './json.ts';
export { isList, isObject, jsonEquals } from './json.ts';
export type { PatchReason } from './errors.ts';
export { PatchError } from './errors.ts';
export { applyJsonPatch, JSON_PATCH_OPERATIONS_MAX } from './json-patch.ts';
export { applyMergePatch } from './merge-patch.ts';
export { applyStrategicMergePatch } from './strategic-merge-patch.ts';
export type { TypeNode } from './type-node.ts';
export { fieldOf, UNTYPED } from './type-node.ts';
