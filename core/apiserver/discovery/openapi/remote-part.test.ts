import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { DiscoveryCatalog, type PublishedGroupVersion, type RemoteDocuments } from '../catalog.ts';
import { OpenApiDocuments } from './documents.ts';
import { remotePart } from './remote-part.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const PATH = '/apis/wardle.example.com/v1alpha1/flunders';
const operation = {
  get: { operationId: 'listFlunders', responses: { 200: { description: 'OK' } }, parameters: [] },
};

const published = (remote: RemoteDocuments): PublishedGroupVersion => ({
  group: 'wardle.example.com',
  version: 'v1alpha1',
  groupPriority: 1000,
  versionPriority: 15,
  resources: [],
  remote,
});
const swagger = {
  paths: [
    [PATH, JSON.stringify(operation)],
    ['/apis/wardle.example.com/v1alpha1/broken', JSON.stringify({ get: {} })],
  ],
  definitions: [
    ['example.Flunder', '{"type":"object"}'],
    ['example.Broken', '"text"'],
    [META, '{"description":"older"}'],
  ],
} as const;

test('another server adds its paths and definitions; known definitions win, broken ones are omitted', () => {
  const { paths, definitions } = remotePart([published({ swagger })], new Set([META]));
  expect([paths.map(({ path }) => path), definitions]).toEqual([
    [PATH],
    [{ name: 'example.Flunder', text: '{"type":"object"}' }],
  ]);
});

test('the documents of this server name those of others, and do not write them', async () => {
  const catalog = new DiscoveryCatalog(36);
  const documents = new OpenApiDocuments({ catalog, version: 'v1.36.0' });
  const url = '/openapi/v3/apis/wardle.example.com/v1alpha1?hash=ABC';
  catalog.publish(published({ openApiThree: url, swagger }));
  const index = JSON.parse(gunzipSync((await documents.index()).gzipped).toString()) as {
    paths: Record<string, unknown>;
  };
  const two = JSON.parse(gunzipSync((await documents.swagger()).json.gzipped).toString()) as {
    paths: Record<string, unknown>;
    definitions: Record<string, { description?: string }>;
  };
  expect([
    index.paths['apis/wardle.example.com/v1alpha1'],
    documents.named('apis/wardle.example.com/v1alpha1'),
    two.paths[PATH],
    two.definitions[META]?.description === 'older',
  ]).toEqual([{ serverRelativeURL: url }, undefined, operation, false]);
});
