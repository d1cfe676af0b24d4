import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { apiPathOf } from '../meta/group-version.ts';
import { definitionNameOf, structOf, structOfKind, typeIds } from '../schema/models.ts';
import type { FieldType, Scalar, TypeNode } from '../schema/types.ts';
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

  const SPECIAL: Readonly<Record<string, string>> = {
    'api.resource.Quantity': 'quantity',
    'apis.meta.v1.Time': 'time',
    'apis.meta.v1.MicroTime': 'microTime',
    'util.intstr.IntOrString': 'intOrString',
    'runtime.RawExtension': 'object',
    'apis.meta.v1.FieldsV1': 'object',
    'apiextensions.v1.JSON': 'any',
    'apiextensions.v1.JSONSchemaPropsOrBool': 'schemaOrBool',
    'apiextensions.v1.JSONSchemaPropsOrArray': 'schemaOrArray',
    'apiextensions.v1.JSONSchemaPropsOrStringArray': 'schemaOrStrings',
    'apiextensions.v1.CustomResourceSubresourceStatus': 'any',
  };

  const wantedType = (fact: TypeFact): string => {
    if (fact.ref !== undefined) {
      const special = Object.keys(SPECIAL).find((end) => fact.ref!.endsWith(`.${end}`));
      return special === undefined ? fact.ref : SPECIAL[special]!;
    }
    if (fact.items) return `[]${wantedType(fact.items)}`;
    if (fact.values) return `{}${wantedType(fact.values)}`;
    if (fact.type === 'integer') return fact.format ?? 'int32';
    if (fact.type === 'number') return 'double';
    return fact.format === 'byte' ? 'bytes' : (fact.type ?? 'any');
  };

  const typeText = (node: TypeNode): string => {
    switch (node.node) {
      case 'scalar':
        return node.scalar;
      case 'opaque':
        return node.opaque;
      case 'list':
        return `[]${typeText(node.items)}`;
      case 'map':
        return `{}${typeText(node.values)}`;
      case 'struct':
        return definitionNameOf(node.struct.id);
    }
  };

  const isScalar = (fact: TypeFact): boolean => ['string', 'integer', 'boolean'].includes(fact.type ?? '');

  const ZEROS: Readonly<Partial<Record<Scalar, unknown>>> = {
    string: '',
    boolean: false,
    int32: 0,
    int64: 0,
  };

  /** What the published default of our field would be. */
  const defaultOf = (field: FieldType): unknown => {
    if (field.default !== undefined) return field.default;
    if (field.type.node === 'struct') return field.byValue ? {} : undefined;
    if (!field.required || field.isPointer || field.type.node !== 'scalar') return undefined;
    return ZEROS[field.type.scalar];
  };

  const ours = (field: FieldType): Record<string, unknown> => ({
    type: typeText(field.type),
    required: field.required,
    listType: field.listType,
    listMapKeys: field.listMapKeys,
    mapType: field.mapType,
    patchStrategy: field.patchStrategy?.join(','),
    patchMergeKey: field.patchMergeKey,
    default: defaultOf(field),
  });

  const theirs = (fact: TypeFact, required: boolean): Record<string, unknown> => ({
    type: wantedType(fact),
    required,
    // A list type on bytes is an artifact of Go's slices.
    listType: fact.type === 'array' ? fact['list-type'] : undefined,
    listMapKeys: fact['list-map-keys'],
    mapType: fact['map-type'],
    patchStrategy: fact['patch-strategy'],
    patchMergeKey: fact['patch-merge-key'],
    default: isScalar(fact) || (fact.ref !== undefined && structName(fact.ref)) ? fact.default : undefined,
  });

  const structName = (ref: string): boolean => !Object.keys(SPECIAL).some((end) => ref.endsWith(`.${end}`));

  test('every stable type has its fields, list keys, patch keys and defaults', () => {
    const ids = new Map(typeIds().map((id) => [definitionNameOf(id), id]));
    const wanted = Object.entries(facts!.kinds).filter(([name, kind]) => isStableType(name) && kind.fields);
    expect(wanted.length).toBeGreaterThan(500);
    for (const [name, kind] of wanted) {
      const id = ids.get(name);
      expect(id, name).toBeDefined();
      const struct = structOf(id!);
      const got = Object.fromEntries([...struct.fields.values()].map((field) => [field.name, ours(field)]));
      const want = Object.fromEntries(
        Object.entries(kind.fields!).map(([field, fact]) => [
          field,
          theirs(fact, kind.required?.includes(field) ?? false),
        ]),
      );
      expect({ name, mapType: struct.mapType, fields: got }).toEqual({
        name,
        mapType: kind['map-type'],
        fields: want,
      });
    }
  });
});
