import type { KubeResource } from '../../core/contract/index.ts';
import { apiVersionOf } from '../../core/api/meta/group-version.ts';

/** JSON schemas for the YAML service, made of what the server publishes. */
export type Schema = Record<string, unknown>;

const REF = '#/components/schemas/';
const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Refs are moved to where JSON schema has them, and an object with named fields takes no others: a field that
 * the server would drop is an error at its place, not a surprise after apply.
 */
const converted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(converted);
  if (!isObject(value)) return value;
  const result: Schema = {};
  for (const [key, field] of Object.entries(value)) {
    if (key === '$ref' && typeof field === 'string') result['$ref'] = field.replace(REF, '#/definitions/');
    else if (key === 'properties' && isObject(field))
      result[key] = Object.fromEntries(Object.entries(field).map(([name, each]) => [name, converted(each)]));
    else if (key !== 'x-kubernetes-group-version-kind') result[key] = converted(field);
  }
  const isOpen =
    value['x-kubernetes-preserve-unknown-fields'] === true ||
    value['x-kubernetes-embedded-resource'] === true ||
    'additionalProperties' in value;
  if (isObject(value['properties']) && !isOpen) result['additionalProperties'] = false;
  return result;
};

interface Gvk {
  readonly group?: string;
  readonly version?: string;
  readonly kind?: string;
}

const kindsOf = (schema: unknown): readonly Gvk[] => {
  const list = isObject(schema) ? schema['x-kubernetes-group-version-kind'] : undefined;
  return Array.isArray(list) ? (list as readonly Gvk[]) : [];
};

const when = (apiVersion: string, kind: string | undefined): Schema => ({
  properties: { apiVersion: { const: apiVersion }, ...(kind !== undefined && { kind: { const: kind } }) },
  required: kind === undefined ? ['apiVersion'] : ['apiVersion', 'kind'],
});

/** One schema for a document of any kind: what it must look like depends on its apiVersion and kind. */
export const manifestSchema = (
  resources: readonly KubeResource[],
  documents: Readonly<Record<string, Schema>>,
): Schema => {
  const kindsByVersion = new Map<string, Set<string>>();
  for (const resource of resources) {
    if (!resource.verbs.includes('create') && !resource.verbs.includes('patch')) continue;
    const apiVersion = apiVersionOf(resource);
    kindsByVersion.set(apiVersion, (kindsByVersion.get(apiVersion) ?? new Set()).add(resource.kind));
  }
  const definitions: Schema = {};
  const rules: Schema[] = [];
  for (const [apiVersion, kinds] of kindsByVersion)
    rules.push({
      if: when(apiVersion, undefined),
      then: { properties: { kind: { enum: [...kinds].sort() } } },
    });
  for (const schemas of Object.values(documents))
    for (const [name, schema] of Object.entries(schemas)) {
      definitions[name] = converted(schema);
      for (const { group = '', version = '', kind = '' } of kindsOf(schema)) {
        const apiVersion = apiVersionOf({ group, version });
        // Lists and options of requests are published too, but no one applies them.
        if (kindsByVersion.get(apiVersion)?.has(kind))
          rules.push({ if: when(apiVersion, kind), then: { $ref: `#/definitions/${name}` } });
      }
    }
  return {
    type: 'object',
    required: ['apiVersion', 'kind'],
    properties: {
      apiVersion: { type: 'string', enum: [...kindsByVersion.keys()].sort() },
      kind: { type: 'string' },
    },
    allOf: rules,
    definitions,
  };
};

/** `v1` is served below /api, everything else below /apis. */
export const openApiPath = (apiVersion: string): string =>
  apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`;
