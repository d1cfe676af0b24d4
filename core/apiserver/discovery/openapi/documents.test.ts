import { gunzipSync } from 'node:zlib';
import protobuf from 'protobufjs/minimal.js';
import { expect, test } from 'vitest';
import { DiscoveryCatalog } from '../catalog.ts';
import type { CompressedDocument } from './compressed-document.ts';
import { widgetsWith } from '../testing/widgets.ts';
import { OpenApiDocuments } from './documents.ts';

interface Written {
  paths: Record<string, Record<string, { parameters?: { name: string }[]; operationId?: string } & object>>;
  definitions?: Record<string, Record<string, unknown>>;
  components?: { schemas: Record<string, Record<string, unknown>> };
}

const read = async (document: Promise<CompressedDocument> | undefined): Promise<Written> =>
  JSON.parse(gunzipSync((await document!).gzipped).toString()) as Written;

const documentsOf = (catalog = new DiscoveryCatalog(36)): OpenApiDocuments =>
  new OpenApiDocuments({ catalog, version: 'v1.36.0' });

/** Made once for the tests that change nothing: all the kinds there are take a second. */
const shared = documentsOf();

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

const widgets = widgetsWith(
  { verbs: ['get', 'list', 'patch'] },
  {
    schemas: {
      definitionNameOf: (kind) => `com.example.v1.${kind}`,
      definitions: () => ({
        'com.example.v1.Widget': {
          type: 'object',
          properties: { metadata: { $ref: `#/definitions/${META}.ObjectMeta` } },
        },
        'com.example.v1.WidgetList': { type: 'object' },
      }),
    },
  },
);

test('a patch says in its operation that it takes dryRun and fieldValidation', async () => {
  const { paths } = JSON.parse(gunzipSync((await shared.swagger()).json.gzipped).toString()) as Written;
  const patch = paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']!['patch']!;
  expect(patch).toMatchObject({
    operationId: 'patchAppsV1NamespacedDeployment',
    'x-kubernetes-action': 'patch',
    'x-kubernetes-group-version-kind': { group: 'apps', kind: 'Deployment', version: 'v1' },
  });
  expect(patch.parameters!.map(({ name }) => name)).toEqual([
    'body',
    'dryRun',
    'fieldManager',
    'fieldValidation',
    'force',
  ]);
});

test('a document of a group version defines all that it refers to, and nothing else', async () => {
  const apps = await read(shared.named('apis/apps/v1'));
  const schemas = apps.components!.schemas;
  const text = JSON.stringify(apps);
  const used = new Set([...text.matchAll(/#\/components\/schemas\/([^"]+)/g)].map(([, name]) => name!));
  expect(Object.keys(schemas)).toEqual([...used].sort());
  expect(schemas[`${META}.DeleteOptions`]!['x-kubernetes-group-version-kind']).toEqual([
    { group: '', kind: 'DeleteOptions', version: 'v1' },
    { group: 'apps', kind: 'DeleteOptions', version: 'v1' },
  ]);
});

test('the index gives every document an address that holds its hash', async () => {
  const documents = shared;
  const { paths } = (await read(documents.index())) as unknown as {
    paths: Record<string, { serverRelativeURL: string }>;
  };
  const { etag } = (await documents.named('apis/apps/v1'))!;
  expect(paths['apis/apps/v1']).toEqual({
    serverRelativeURL: `/openapi/v3/apis/apps/v1?hash=${etag.replaceAll('"', '')}`,
  });
  expect(Object.keys(paths)).toEqual(
    expect.arrayContaining(['api', 'api/v1', 'apis', 'apis/apps', 'version']),
  );
  expect(documents.named('apis/none.example/v1')).toBeUndefined();
});

test('a group published later is in both documents until it is withdrawn', async () => {
  const catalog = new DiscoveryCatalog(36);
  const documents = documentsOf(catalog);
  const before = await documents.swagger();
  const index = (await documents.index()).etag;
  catalog.publish(widgets);
  const after = JSON.parse(gunzipSync((await documents.swagger()).json.gzipped).toString()) as Written;
  expect(after.definitions).toHaveProperty(['com.example.v1.Widget']);
  expect(after.paths['/apis/example.com/v1/namespaces/{namespace}/widgets/{name}']!['get']).toMatchObject({
    operationId: 'readExampleComV1NamespacedWidget',
  });
  expect((await documents.index()).etag).not.toBe(index);
  expect(await documents.named('apis/example.com/v1')).toBeDefined();
  catalog.withdraw(widgets);
  expect((await documents.swagger()).json.etag).toBe(before.json.etag);
  expect((await documents.index()).etag).toBe(index);
});

/** The fields of one message by number, those that are messages or strings as bytes. */
const fieldsOf = (bytes: Uint8Array): Map<number, Uint8Array[]> => {
  const reader = protobuf.Reader.create(bytes);
  const fields = new Map<number, Uint8Array[]>();
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if ((tag & 7) === 2) fields.set(tag >>> 3, [...(fields.get(tag >>> 3) ?? []), reader.bytes()]);
    else reader.skipType(tag & 7);
  }
  return fields;
};
const textOf = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();

test('the binary document holds the same paths and definitions as the JSON', async () => {
  const swagger = await shared.swagger();
  const json = JSON.parse(gunzipSync(swagger.json.gzipped).toString()) as Written;
  const document = fieldsOf(gunzipSync(swagger.protobuf.gzipped));
  const names = (entries: Uint8Array[] = []): string[] =>
    entries.map((entry) => textOf(fieldsOf(entry).get(1)?.[0]));
  expect(textOf(document.get(1)?.[0])).toBe('2.0');
  expect(names(fieldsOf(document.get(8)![0]!).get(2))).toEqual(Object.keys(json.paths));
  const definitions = fieldsOf(document.get(9)![0]!).get(1)!;
  expect(names(definitions)).toEqual(Object.keys(json.definitions!));
  const container = definitions.find(
    (entry) => textOf(fieldsOf(entry).get(1)?.[0]) === 'io.k8s.api.core.v1.Container',
  )!;
  const schema = fieldsOf(fieldsOf(container).get(2)![0]!);
  const properties = fieldsOf(schema.get(25)![0]!).get(1)!;
  const env = fieldsOf(
    fieldsOf(properties.find((entry) => textOf(fieldsOf(entry).get(1)?.[0]) === 'env')!).get(2)![0]!,
  );
  const extensions = env.get(31)!.map((extension) => {
    const fields = fieldsOf(extension);
    return [textOf(fields.get(1)?.[0]), textOf(fieldsOf(fields.get(2)![0]!).get(2)?.[0])];
  });
  expect(extensions).toContainEqual(['x-kubernetes-patch-merge-key', '"name"']);
});
