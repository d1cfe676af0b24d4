import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { GroupVersionKind } from '../../core/api/meta/index.ts';
import type { OpenApiSchema } from '../../core/api/schema/index.ts';
import { registryOf } from '../../core/api/scheme/index.ts';
import { DiscoveryCatalog } from '../../core/apiserver/discovery/catalog.ts';
import { apiResourceList } from '../../core/apiserver/discovery/legacy-documents.ts';
import { OpenApiDocuments } from '../../core/apiserver/discovery/openapi/documents.ts';

const FACTS = fileURLToPath(new URL('../../../shared/k8s-facts.json', import.meta.url));
const MODELS = new URL('../../node_modules/@kubernetes/client-node/dist/gen/models/', import.meta.url);

interface Place {
  kind: string;
  verbs: string[];
}
interface FieldFact {
  ref?: string;
  type?: string;
  'list-type'?: string;
  'list-map-keys'?: string[];
  'patch-strategy'?: string;
  'patch-merge-key'?: string;
}
interface Facts {
  kinds: Record<string, { fields?: Record<string, FieldFact>; gvk?: string[] }>;
  served: {
    '1.34': { absent: string[]; extra: Record<string, Place> };
    '1.35': { absent: string[]; extra: Record<string, Place> };
    '1.36': Record<string, Place>;
  };
}

interface Operation {
  'x-kubernetes-action'?: string;
  'x-kubernetes-group-version-kind'?: GroupVersionKind;
}
interface Swagger {
  paths: Record<string, Record<string, Operation>>;
  definitions: Record<string, OpenApiSchema>;
}
interface OpenApi3 {
  components: { schemas: Record<string, OpenApiSchema> };
}

const documentsOf = (minor: number): OpenApiDocuments =>
  new OpenApiDocuments({ catalog: new DiscoveryCatalog(minor), version: `v1.${minor}.0` });

const swaggerOf = async (minor: number): Promise<Swagger> =>
  JSON.parse(gunzipSync((await documentsOf(minor).swagger()).json.gzipped).toString()) as Swagger;

const LEGACY_WATCH = /\/watch\//;
const STABLE_PATH = /^\/(api|apis\/[^/]+)\/v\d+\/./;
const STABLE_TYPE = /\.v\d+\.[^.]+$/;

/** A document as paths with their kinds and verbs, in the words of the facts. */
const placesOf = ({ paths }: Swagger): Record<string, Place> => {
  const places: Record<string, Place> = {};
  for (const [path, item] of Object.entries(paths)) {
    if (!STABLE_PATH.test(path) || LEGACY_WATCH.test(path)) continue;
    const verbs = new Set<string>();
    let kind = '';
    for (const operation of Object.values(item)) {
      const gvk = operation['x-kubernetes-group-version-kind'];
      if (!gvk) continue;
      kind = `${gvk.group}/${gvk.version}/${gvk.kind}`;
      verbs.add(operation['x-kubernetes-action']!);
    }
    places[path] = { kind, verbs: [...verbs].sort() };
  }
  return places;
};

interface Attribute {
  readonly baseName: string;
}
type ModelClass = new () => object;

/** The field names of a model of the dependency; some kinds carry the name of their group in front. */
const fieldsOfModel = async (file: string): Promise<string[]> => {
  const module = (await import(new URL(`${file}.js`, MODELS).href)) as Record<string, ModelClass>;
  const model = module[file] as unknown as { getAttributeTypeMap(): Attribute[] };
  return model
    .getAttributeTypeMap()
    .map(({ baseName }) => baseName)
    .sort();
};

const modelFileOf = ({ group, version, kind }: GroupVersionKind): string | undefined => {
  const name = `${version.toUpperCase()}${kind}`;
  const owner = group === '' ? 'Core' : group.split('.')[0]!.replace(/^./, (letter) => letter.toUpperCase());
  return [`${owner}${name}`, name].find((file) => existsSync(fileURLToPath(new URL(`${file}.js`, MODELS))));
};

test('every kind that is served has the fields of the dependency, in both documents', async () => {
  const documents = documentsOf(36);
  const swagger = await swaggerOf(36);
  const { resources } = registryOf(36);
  const bySchema = new Map<string, OpenApiSchema>(
    Object.values(swagger.definitions).flatMap((schema) =>
      ((schema['x-kubernetes-group-version-kind'] ?? []) as GroupVersionKind[]).map(
        ({ group, version, kind }) => [`${group}/${version}/${kind}`, schema] as const,
      ),
    ),
  );
  for (const type of resources) {
    const file = modelFileOf(type);
    expect(file, `${type.group}/${type.kind}`).toBeDefined();
    const fields = await fieldsOfModel(file!);
    const name = `${type.group}/${type.version}/${type.kind}`;
    expect([name, Object.keys(bySchema.get(name)?.properties ?? {}).sort()]).toEqual([name, fields]);
    const path = type.group === '' ? `api/${type.version}` : `apis/${type.group}/${type.version}`;
    const three = JSON.parse(gunzipSync((await documents.named(path))!.gzipped).toString()) as OpenApi3;
    const published = Object.values(three.components.schemas).find((schema) =>
      (schema['x-kubernetes-group-version-kind'] as GroupVersionKind[] | undefined)?.some(
        (gvk) => gvk.group === type.group && gvk.version === type.version && gvk.kind === type.kind,
      ),
    );
    expect([name, Object.keys(published?.properties ?? {}).sort()]).toEqual([name, fields]);
  }
});

describe.skipIf(!existsSync(FACTS))('against the facts of the API', () => {
  const facts = existsSync(FACTS) ? (JSON.parse(readFileSync(FACTS, 'utf8')) as Facts) : undefined;

  const servedBy = (release: '1.34' | '1.35' | '1.36'): Record<string, Place> => {
    const newest = facts!.served['1.36'];
    const places = release === '1.36' ? { ...newest } : { ...newest, ...facts!.served[release].extra };
    if (release !== '1.36') for (const path of facts!.served[release].absent) delete places[path];
    return Object.fromEntries(
      Object.entries(places)
        .filter(([path]) => STABLE_PATH.test(path))
        .map(([path, { kind, verbs }]) => [path, { kind, verbs: [...verbs].sort() }]),
    );
  };

  test.each(['1.34', '1.35', '1.36'] as const)(
    'the OpenAPI document of %s has every path with its kind and verbs',
    async (release) => {
      expect(placesOf(await swaggerOf(Number(release.slice(2))))).toEqual(servedBy(release));
    },
  );

  test.each(['1.34', '1.35', '1.36'] as const)(
    'discovery of %s names every resource and subresource',
    (release) => {
      const catalog = new DiscoveryCatalog(Number(release.slice(2)));
      const told = new Set(
        catalog.groups().flatMap(({ versions }) =>
          versions.flatMap((published) => {
            const { groupVersion, resources } = apiResourceList(published) as {
              groupVersion: string;
              resources: { name: string }[];
            };
            return resources.map(({ name }) => `${groupVersion} ${name}`);
          }),
        ),
      );
      const wanted = Object.keys(servedBy(release)).map((path) => {
        const [, gv, rest] = /^\/(?:api|apis)\/(.*?v\d+)\/(.*)$/.exec(path)!;
        const below = rest!.replace(/^namespaces\/\{namespace\}\//, '').replace(/\/\{path\}$/, '');
        return `${gv} ${below.replace('/{name}', '')}`;
      });
      expect([...told].sort()).toEqual([...new Set(wanted)].sort());
    },
  );

  test('every stable type that is served has its fields, list keys and patch keys', async () => {
    const { definitions } = await swaggerOf(36);
    const extension = (schema: OpenApiSchema, name: string): unknown => schema[`x-kubernetes-${name}`];
    const kinds = Object.entries(facts!.kinds).filter(
      ([name, kind]) => STABLE_TYPE.test(name) && kind.fields && definitions[name],
    );
    expect(kinds.length).toBeGreaterThan(500);
    for (const [name, { fields }] of kinds) {
      const { properties = {} } = definitions[name]!;
      const ours = Object.entries(properties).map(([field, schema]) => [
        field,
        extension(schema, 'list-map-keys'),
        extension(schema, 'patch-strategy'),
        extension(schema, 'patch-merge-key'),
        schema.$ref?.slice('#/definitions/'.length),
      ]);
      const theirs = Object.entries(fields!).map(([field, fact]) => [
        field,
        fact['list-map-keys'],
        fact['patch-strategy'],
        fact['patch-merge-key'],
        fact.ref,
      ]);
      expect([name, ours.sort()]).toEqual([name, theirs.sort()]);
    }
  });
});
