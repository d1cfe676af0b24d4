import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta/index.ts';
import { versionOf, widgetDefinition } from './testing/definitions.ts';
import { servedExtensions, widget, WIDGETS } from './testing/served-extensions.ts';

const server = servedExtensions();
const ask: ReturnType<typeof server>['ask'] = (...request) => server().ask(...request);
const define: ReturnType<typeof server>['define'] = (definition) => server().define(definition);

test('objects are served in every version, whatever version they were stored in', async () => {
  await define(
    widgetDefinition([versionOf(), versionOf({ name: 'v2', storage: false, more: { subresources: {} } })]),
  );
  await ask('POST', WIDGETS, widget('a', { size: 5 }));
  const other = '/apis/example.com/v2/namespaces/default/widgets';
  const read = await ask('GET', `${other}/a`);
  expect([read.body.apiVersion, read.body['spec']]).toEqual([
    'example.com/v2',
    { size: 5, color: 'red', replicas: 1 },
  ]);
  const created = await ask('POST', other, { ...widget('b', { size: 1 }), apiVersion: 'example.com/v2' });
  expect([created.code, created.body.apiVersion]).toEqual([201, 'example.com/v2']);
  const listed = await ask('GET', WIDGETS);
  expect((listed.body['items'] as KubernetesObject[]).map(({ apiVersion }) => apiVersion)).toEqual([
    'example.com/v1',
    'example.com/v1',
  ]);
});

test('a webhook converts, in one review for a list, and may not change what an object is called', async () => {
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;
  const conversion = {
    strategy: 'Webhook',
    webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://example.com/convert' } },
  };
  const renaming = (review: KubernetesObject, rename: (name: string) => string): KubernetesObject => {
    const { uid, desiredAPIVersion, objects } = review['request'] as {
      readonly uid: string;
      readonly desiredAPIVersion: string;
      readonly objects: readonly KubernetesObject[];
    };
    return {
      ...review,
      response: {
        uid,
        result: { status: 'Success' },
        convertedObjects: objects.map((object) => ({
          ...object,
          apiVersion: desiredAPIVersion,
          metadata: { ...object.metadata, name: rename(object.metadata?.name ?? '') },
          converted: desiredAPIVersion,
        })),
      },
    };
  };
  server().answerOf = (review) => renaming(review, (name) => name);
  await define(
    widgetDefinition([versionOf({ schema }), versionOf({ name: 'v2', storage: false, schema })], {
      conversion,
    }),
  );
  await ask('POST', WIDGETS, widget('a', {}));
  await ask('POST', WIDGETS, widget('b', {}));
  expect(server().posted).toEqual([]);
  const other = '/apis/example.com/v2/namespaces/default/widgets';
  const listed = await ask('GET', other);
  expect([
    server().posted.length,
    (listed.body['items'] as KubernetesObject[]).map((object) => [object.apiVersion, object['converted']]),
  ]).toEqual([
    1,
    [
      ['example.com/v2', 'example.com/v2'],
      ['example.com/v2', 'example.com/v2'],
    ],
  ]);
  const stored = await server().registry.reader.list(
    { group: 'example.com', resource: 'widgets' },
    'default',
  );
  const inVersion = (version: string): Promise<readonly KubernetesObject[]> =>
    server().extensions.inVersion(stored, { group: 'example.com', version, resource: 'widgets' });
  expect((await inVersion('v2')).map((object) => object['converted'])).toEqual([
    'example.com/v2',
    'example.com/v2',
  ]);
  await expect(inVersion('v3')).rejects.toThrow('widgets.example.com are not served in version v3');
  const updated = await ask(
    'PATCH',
    `${other}/a`,
    { metadata: { labels: { x: 'y' } } },
    { 'content-type': 'application/merge-patch+json' },
  );
  expect([updated.code, updated.body.apiVersion]).toEqual([200, 'example.com/v2']);
  server().answerOf = (review) => renaming(review, (name) => `${name}-x`);
  await ask('POST', WIDGETS, widget('c', {}));
  const failed = await ask('GET', `${other}/c`);
  expect([failed.code, failed.body.message]).toEqual([
    500,
    'Internal error occurred: conversion webhook for example.com/v1, Kind=Widget returned invalid object: must have the same name: c != c-x',
  ]);
});
