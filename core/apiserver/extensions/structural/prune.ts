import { isMap, setOwn, type JsonMap, type Structural } from './structural.ts';

/** The root of a resource has these whether its schema says so or not. */
const META_FIELDS = new Set(['apiVersion', 'kind', 'metadata']);

/** As upstream: what is unknown beyond this is not listed. */
const UNKNOWN_PATHS_MAX = 100;

class Pruner {
  readonly unknown: string[] | undefined;

  constructor(unknown: string[] | undefined) {
    this.unknown = unknown;
  }

  #record(path: string, name: string): void {
    if (this.unknown && this.unknown.length < UNKNOWN_PATHS_MAX)
      this.unknown.push(path === '' ? name : `${path}.${name}`);
  }

  /** `schema` is undefined where nothing is specified: members are removed there, unless unknown ones are kept. */
  value(value: unknown, schema: Structural | undefined, path: string, isKept = false): unknown {
    if (typeof value !== 'object' || value === null) return value;
    const preserves = isKept || schema?.preservesUnknown === true;
    if (Array.isArray(value)) return this.#list(value, schema, path, preserves);
    return this.map(value as JsonMap, schema, path, { preserves, isResource: schema?.isEmbedded === true });
  }

  #list(
    value: readonly unknown[],
    schema: Structural | undefined,
    path: string,
    preserves: boolean,
  ): unknown {
    let copy: unknown[] | undefined;
    for (let at = 0; at < value.length; at += 1) {
      const inside = value[at];
      const pruned = this.value(inside, schema?.items, `${path}[${at}]`, preserves);
      if (pruned !== inside) (copy ??= [...value])[at] = pruned;
    }
    return copy ?? value;
  }

  map(
    value: JsonMap,
    schema: Structural | undefined,
    path: string,
    { preserves, isResource }: { readonly preserves: boolean; readonly isResource: boolean },
  ): JsonMap {
    let copy: JsonMap | undefined;
    for (const name of Object.keys(value)) {
      if (isResource && META_FIELDS.has(name)) continue;
      const property = schema?.properties.get(name);
      if (property === undefined && schema?.hasAdditional !== true) {
        if (preserves) continue;
        if (path !== '' || !META_FIELDS.has(name)) this.#record(path, name);
        copy ??= { ...value };
        delete copy[name];
        continue;
      }
      const inside = value[name];
      const pruned = this.value(inside, property ?? schema!.values, path === '' ? name : `${path}.${name}`);
      if (pruned !== inside) setOwn((copy ??= { ...value }), name, pruned);
    }
    return copy ?? value;
  }
}

/**
 * The object without what its schema does not specify; what was removed is added to `unknown`. The object itself where
 * nothing was. Kind, version and metadata of the root stay.
 */
export const pruneResource = (value: JsonMap, schema: Structural, unknown?: string[]): JsonMap =>
  new Pruner(unknown).map(value, schema, '', { preserves: schema.preservesUnknown, isResource: true });

/** Nulls that the schema does not allow and that no default will replace are removed. */
export const pruneNulls = <T>(value: T, schema: Structural | undefined): T => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    for (let at = 0; at < value.length; at += 1) {
      const inside: unknown = value[at];
      const pruned = pruneNulls(inside, schema?.items);
      if (pruned !== inside) (copy ??= [...(value as unknown[])])[at] = pruned;
    }
    return (copy ?? value) as T;
  }
  if (!isMap(value)) return value;
  let copy: JsonMap | undefined;
  for (const name of Object.keys(value)) {
    const inside = value[name];
    const member = schema?.member(name);
    if (inside === null) {
      if (member === undefined || member.isNullable || member.default !== undefined) continue;
      copy ??= { ...value };
      delete copy[name];
      continue;
    }
    if (typeof inside !== 'object') continue;
    const pruned = pruneNulls(inside, member);
    if (pruned !== inside) setOwn((copy ??= { ...value }), name, pruned);
  }
  return (copy ?? value) as T;
};
