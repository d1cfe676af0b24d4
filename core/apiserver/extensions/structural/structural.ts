import type { JsonSchema } from './json-schema.ts';

/**
 * A schema as pruning, defaulting and applying read it: made once when a resource is first used, so that requests look
 * up nothing by name but the fields of their objects. Flags say which walks a part of the tree needs at all.
 */
export class Structural {
  readonly schema: JsonSchema;
  readonly type: string;
  readonly isNullable: boolean;
  readonly preservesUnknown: boolean;
  readonly isEmbedded: boolean;
  readonly isIntOrString: boolean;
  readonly properties: ReadonlyMap<string, Structural>;
  /** Whether names that are no properties are allowed; `values` is their schema, if they have one. */
  readonly hasAdditional: boolean;
  readonly values: Structural | undefined;
  readonly items: Structural | undefined;
  readonly default: unknown;
  readonly listType: 'atomic' | 'set' | 'map' | undefined;
  readonly listMapKeys: readonly string[];
  readonly mapType: 'atomic' | 'granular' | undefined;
  /** A default stands here or below. */
  readonly hasDefaults: boolean;
  /** A list whose items must be unique stands here or below. */
  readonly hasKeyedLists: boolean;
  /** An embedded resource stands here or below. */
  readonly hasEmbedded: boolean;

  constructor(schema: JsonSchema) {
    this.schema = schema;
    this.type = schema.type ?? '';
    this.isNullable = schema.nullable === true;
    this.preservesUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true;
    this.isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
    this.isIntOrString = schema['x-kubernetes-int-or-string'] === true;
    this.properties = new Map(
      Object.entries(schema.properties ?? {}).map(([name, inside]) => [name, new Structural(inside)]),
    );
    const { additionalProperties } = schema;
    this.hasAdditional = additionalProperties !== undefined && additionalProperties !== false;
    this.values = typeof additionalProperties === 'object' ? new Structural(additionalProperties) : undefined;
    this.items = schema.items === undefined ? undefined : new Structural(schema.items);
    this.default = schema.default ?? undefined;
    this.listType = schema['x-kubernetes-list-type'];
    this.listMapKeys = schema['x-kubernetes-list-map-keys'] ?? [];
    this.mapType = schema['x-kubernetes-map-type'];
    const below = [...this.properties.values(), this.values, this.items].filter((one) => one !== undefined);
    this.hasDefaults = this.default !== undefined || below.some((one) => one.hasDefaults);
    this.hasKeyedLists =
      this.listType === 'set' || this.listType === 'map' || below.some((one) => one.hasKeyedLists);
    this.hasEmbedded = this.isEmbedded || below.some((one) => one.hasEmbedded);
  }

  /** The schema of a member: a property's own, or that of all values. */
  member(name: string): Structural | undefined {
    return this.properties.get(name) ?? this.values;
  }
}

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonMap = Record<string, unknown>;

export const isMap = (value: unknown): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Names come from the body: `__proto__` must become a key like any other. */
export const setOwn = (object: JsonMap, key: string, value: unknown): void => {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
  else object[key] = value;
};

export const copyJson = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => copyJson(item)) as T;
  const copy: JsonMap = {};
  for (const key of Object.keys(value)) setOwn(copy, key, copyJson((value as JsonMap)[key]));
  return copy as T;
};
