import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { apiPathOf, type GroupVersionKind } from '../meta/group-version.ts';
import { definitionNameOf, structOfKind, typeIds } from '../schema/models.ts';
import { openApiDefinition, specialDefinitions, type OpenApiSchema } from '../schema/openapi.ts';
import { registryOf } from './registry.ts';
import type { ResourceType, Subresource } from './resource-type.ts';

const FACTS = fileURLToPath(new URL('../../../../shared/k8s-facts.json', import.meta.url));

interface Place {
  kind: string;
  verbs: string[];
}
interface TypeFact {
  type?: string;
  format?: string;
  ref?: string;
  items?: TypeFact;
  values?: TypeFact;
  default?: unknown;
  'list-type'?: string;
  'list-map-keys'?: string[];
  'map-type'?: string;
  'patch-strategy'?: string;
  'patch-merge-key'?: string;
}
interface KindFact {
  fields?: Record<string, TypeFact>;
  required?: string[];
  'map-type'?: string;
  gvk?: string[];
  unions?: unknown;
}
interface Facts {
  kinds: Record<string, KindFact>;
  served: {
    '1.34': { absent: string[]; extra: Record<string, Place> };
    '1.35': { absent: string[]; extra: Record<string, Place> };
    '1.36': Record<string, Place>;
  };
}

const isStablePath = (path: string): boolean => /^\/(api|apis\/[^/]+)\/v\d+\//.test(path);
const isStableType = (name: string): boolean => /\.v\d+\.[^.]+$/.test(name);

/** Our tables as paths: what a release would publish. */
const pathsOf = (minor: number): Record<string, Place> => {
  const paths: Record<string, Place> = {};
  const at = (path: string, kind: string, verbs: string[]): void => {
    if (verbs.length > 0) paths[path] = { kind, verbs: verbs.sort() };
  };
  const kindText = (gvk: { group: string; version: string; kind: string }): string =>
    `${gvk.group}/${gvk.version}/${gvk.kind}`;
  const has = (type: ResourceType, verb: string, as: string): string[] =>
    type.verbs.some((known) => known === verb) ? [as] : [];
  const subVerbs = (sub: Subresource): string[] =>
    sub.connects
      ? ['connect']
      : sub.verbs.map((verb) => (verb === 'create' ? 'post' : verb === 'update' ? 'put' : verb));
  for (const type of registryOf(minor).resources) {
    const root = apiPathOf(type);
    const home = `${root}${type.namespaced ? '/namespaces/{namespace}' : ''}/${type.plural}`;
    const own = kindText(type);
    const collection = [
      ...has(type, 'create', 'post'),
      ...has(type, 'list', 'list'),
      ...has(type, 'deletecollection', 'deletecollection'),
    ];
    at(home, own, collection);
    if (type.namespaced) at(`${root}/${type.plural}`, own, has(type, 'list', 'list'));
    at(`${home}/{name}`, own, [
      ...has(type, 'delete', 'delete'),
      ...has(type, 'get', 'get'),
      ...has(type, 'patch', 'patch'),
      ...has(type, 'update', 'put'),
    ]);
    for (const sub of type.subresources) {
      at(`${home}/{name}/${sub.name}`, kindText(sub.kind), subVerbs(sub));
      if (sub.name === 'proxy') at(`${home}/{name}/proxy/{path}`, kindText(sub.kind), subVerbs(sub));
    }
  }
  return paths;
};

const stable = (paths: Record<string, Place>): Record<string, Place> =>
  Object.fromEntries(Object.entries(paths).filter(([path]) => isStablePath(path)));

test.each([34, 35, 36])('every kind that 1.%d serves has a schema, and so has its list', (minor) => {
  const missing = registryOf(minor).resources.flatMap((type) => {
    const kinds = [type.kind, ...(type.verbs.includes('list') ? [type.listKind] : [])];
    const gvks = [
      ...kinds.map((kind) => ({ ...type, kind })),
      ...type.subresources.filter((sub) => !sub.connects).map((sub) => sub.kind),
    ];
    return gvks
      .filter((gvk) => structOfKind(gvk) === undefined)
      .map((gvk) => `${gvk.group}/${gvk.version}/${gvk.kind}`);
  });
  expect(missing).toEqual([]);
});

describe.skipIf(!existsSync(FACTS))('against the facts of the API', () => {
  const facts = existsSync(FACTS) ? (JSON.parse(readFileSync(FACTS, 'utf8')) as Facts) : undefined;

  test('1.36 serves the stable paths with their kinds and verbs, and no others', () => {
    expect(pathsOf(36)).toEqual(stable(facts!.served['1.36']));
  });

  test.each(['1.34', '1.35'] as const)('%s differs from 1.36 as it should', (release) => {
    const { absent, extra } = facts!.served[release];
    const expected = { ...facts!.served['1.36'], ...extra };
    for (const path of absent) delete expected[path];
    expect(pathsOf(Number(release.slice(2)))).toEqual(stable(expected));
  });

  /** A published schema in the words of the facts. */
  const factOf = (schema: OpenApiSchema): TypeFact => {
    const { allOf, ...beside } = schema;
    const own: OpenApiSchema = allOf ? { ...allOf[0], ...beside } : schema;
    const fact: Record<string, unknown> = {
      type: own.type,
      // Counts without a stated width are 32 bits wide.
      format: own.format === 'int32' ? undefined : own.format,
      ref: own.$ref?.slice('#/components/schemas/'.length),
      default: own.default,
      items: own.items && factOf(own.items),
      values: own.additionalProperties && factOf(own.additionalProperties),
      'list-type': own['x-kubernetes-list-type'],
      'list-map-keys': own['x-kubernetes-list-map-keys'],
      'map-type': own['x-kubernetes-map-type'],
      'patch-strategy': own['x-kubernetes-patch-strategy'],
      'patch-merge-key': own['x-kubernetes-patch-merge-key'],
    };
    return Object.fromEntries(Object.entries(fact).filter(([, value]) => value !== undefined));
  };

  const kindTexts = (type: OpenApiSchema): string[] | undefined =>
    (type['x-kubernetes-group-version-kind'] as GroupVersionKind[] | undefined)?.map(
      ({ group, version, kind }) => `${group}/${version}/${kind}`,
    );

  /** A list type on bytes is an artifact of Go's slices. */
  const wanted = (fact: TypeFact): TypeFact => {
    const { format, 'list-type': listType, items, values, ...rest } = fact;
    return {
      ...rest,
      ...(format !== undefined && format !== 'int32' && { format }),
      ...(listType !== undefined && fact.type === 'array' && { 'list-type': listType }),
      ...(items && { items: wanted(items) }),
      ...(values && { values: wanted(values) }),
    };
  };

  test('every stable type has its fields, list keys, patch keys and defaults', () => {
    const ids = new Map(typeIds().map((id) => [definitionNameOf(id), id]));
    const kinds = Object.entries(facts!.kinds).filter(([name, kind]) => isStableType(name) && kind.fields);
    expect(kinds.length).toBeGreaterThan(500);
    for (const [name, kind] of kinds) {
      const id = ids.get(name);
      expect(id, name).toBeDefined();
      const { properties, required, ...type } = openApiDefinition(id!, 3);
      const fields = Object.fromEntries(
        Object.entries(properties!).map(([field, schema]) => [field, factOf(schema)]),
      );
      expect({
        name,
        fields,
        required: required?.sort(),
        mapType: type['x-kubernetes-map-type'],
        kinds: kindTexts(type),
        unions: type['x-kubernetes-unions'],
      }).toEqual({
        name,
        fields: Object.fromEntries(
          Object.entries(kind.fields!).map(([field, fact]) => [field, wanted(fact)]),
        ),
        required: kind.required?.sort(),
        mapType: kind['map-type'],
        kinds: kind.gvk,
        unions: kind.unions,
      });
    }
  });

  test('every definition that a stable type refers to is published', () => {
    const known = new Set([...typeIds().map(definitionNameOf), ...Object.keys(specialDefinitions(3))]);
    const unknown = Object.keys(facts!.kinds).filter((name) => isStableType(name) && !known.has(name));
    expect(unknown).toEqual([]);
  });
});
