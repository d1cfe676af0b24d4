import { mergeTyped, typeErrors } from '../../../api/apply/index.ts';
import type { KubernetesObject } from '../../../api/meta/index.ts';
import { applyJsonPatch } from '../../../api/patch/json-patch.ts';
import { fieldOf, UNTYPED, type TypeNode } from '../../../api/patch/type-node.ts';
import { isList, isObject, type Json, type JsonObject } from '../../../api/patch/json.ts';
import { PatchTestError } from '../../../api/patch/errors.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Value } from '../../../cel/index.ts';
import type { Cel } from '../expressions/cel.ts';
import { JSON_PATCH_TYPE, OBJECT_TYPE, typeMismatches } from './patch-types.ts';

/** Places of a configuration that the type keeps or replaces as a whole: upstream does not let policies touch them. */
const atomicsOf = (value: Json, type: TypeNode, path: string): readonly string[] => {
  if (isObject(value)) {
    const own = type.kind !== 'scalar' && type.kind !== 'list' && type.mapType === 'atomic' ? [path] : [];
    return [
      ...own,
      ...Object.entries(value).flatMap(([name, inner]) => {
        const below = type.kind === 'struct' ? fieldOf(type, name) : undefined;
        return below ? atomicsOf(inner, below, `${path}.${name}`) : [];
      }),
    ];
  }
  if (!isList(value) || type.kind !== 'list') return [];
  const own = (type.listType ?? 'atomic') === 'atomic' ? [path] : [];
  return [...own, ...value.flatMap((item, at) => atomicsOf(item, type.items ?? UNTYPED, `${path}[${at}]`))];
};

/** Lays what an `Object{}` expression made over an object, as server-side apply would. */
export const applyConfiguration = (
  cel: Cel,
  object: KubernetesObject,
  value: Value,
  type: TypeNode,
): { readonly json: Record<string, unknown>; readonly configuration: Json } => {
  const wrong = typeMismatches(cel, value, [OBJECT_TYPE]);
  if (wrong.length > 0) throw new Error(`type mismatch: ${wrong.join('\n')}`);
  const { apiVersion, kind } = object;
  const asked = cel.toNative(value) as JsonObject;
  const configuration = { ...asked, apiVersion, kind } as JsonObject;
  const mistyped = typeErrors(configuration, type);
  if (mistyped.length > 0)
    throw new Error(
      `error applying patch: failed to convert patch object to typed object: ${mistyped.length === 1 ? mistyped[0] : ['errors:', ...mistyped.map((text) => `  ${text}`)].join('\n')}`,
    );
  const atomics = atomicsOf(configuration, type, '');
  if (atomics.length > 0)
    throw new Error(
      `error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`,
    );
  try {
    const json = mergeTyped(object as JsonObject, configuration, type) as Record<string, unknown>;
    return { json, configuration: asked };
  } catch (error) {
    throw new Error(`error applying patch: failed to merge patch: ${messageOf(error)}`, { cause: error });
  }
};

const operationOf = (cel: Cel, value: Value): JsonObject => {
  const { LiteralStruct } = cel;
  if (!(value instanceof LiteralStruct) || value.type.name !== JSON_PATCH_TYPE)
    throw new Error('type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch');
  const { fields } = value;
  const inner = fields.get('value');
  if (inner instanceof LiteralStruct) {
    const wrong = typeMismatches(cel, inner, [inner.type.name]);
    if (wrong.length > 0) throw new Error(`type mismatch: ${wrong.join('\n')}`);
  }
  const text = (name: string): string => String(fields.get(name) ?? '');
  return {
    op: text('op'),
    path: text('path'),
    ...(text('from') !== '' && { from: text('from') }),
    ...(inner !== undefined && { value: cel.toNative(inner) as Json }),
  };
};

/** Applies what a list of `JSONPatch{}` says. A test that fails leaves the object as it is. */
export const applyPatchList = (
  cel: Cel,
  object: KubernetesObject,
  value: Value,
): { readonly json: Record<string, unknown>; readonly operations: readonly JsonObject[] } => {
  if (!(value instanceof cel.CelList))
    throw new Error('type mismatch: JSONPatchType.expression should evaluate to array');
  const operations = value.toArray().map((one) => operationOf(cel, one));
  try {
    const json = applyJsonPatch(object as JsonObject, operations as unknown as Json);
    if (!isObject(json)) throw new Error('the patched object is not an object');
    return { json: json as Record<string, unknown>, operations };
  } catch (error) {
    if (error instanceof PatchTestError) return { json: object as Record<string, unknown>, operations: [] };
    throw new Error(`JSON Patch: ${messageOf(error)}`, { cause: error });
  }
};
