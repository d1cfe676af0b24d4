import { afterEach, expect, test } from 'vitest';
import { messageOf } from '../../../base/errors.ts';
import { systemClock } from '../../../base/node/clock.ts';
import type { KubernetesObject } from '../../../api/meta/index.ts';
import { foreignCaBundle, startTestWebhook, type TestWebhook } from '../../webhook/testing/webhook-server.ts';
import { createWebhookClient } from '../../webhook/webhook-client.ts';
import { versionOf, widgetDefinition } from '../testing/definitions.ts';
import { customResourceOf } from './custom-resource.ts';
import { webhookConverter } from './webhook-conversion.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Review {
  readonly request: {
    readonly uid: string;
    readonly desiredAPIVersion: string;
    readonly objects: KubernetesObject[];
  };
}

/** What the author of a definition runs: answers each review with what `answer` makes of it. */
const serve = async (answer: (review: Review) => unknown): Promise<TestWebhook> => {
  const server = await startTestWebhook(
    (body, response) => {
      const answered = answer(JSON.parse(body) as Review);
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(typeof answered === 'string' ? answered : JSON.stringify(answered));
    },
    { names: ['127.0.0.1', 'convert.default.svc'] },
  );
  closing.push(() => server.close());
  return server;
};

const reviewed = ({ request }: Review, more: object = {}): object => ({
  kind: 'ConversionReview',
  apiVersion: 'apiextensions.k8s.io/v1',
  response: {
    uid: request.uid,
    result: { status: 'Success' },
    convertedObjects: request.objects.map((object) => ({
      ...object,
      apiVersion: request.desiredAPIVersion,
      metadata: { ...object.metadata, labels: { converted: 'yes' } },
    })),
    ...more,
  },
});

const OBJECT: KubernetesObject = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'a', namespace: 'default', uid: 'u', generation: 3 },
  spec: { size: 1 },
};

const convert = async (server: TestWebhook, config: object): Promise<unknown> => {
  const webhooks = createWebhookClient({
    clock: systemClock,
    resolve: () => Promise.resolve({ host: '127.0.0.1', port: server.port }),
  });
  closing.push(() => webhooks.dispose());
  const resource = customResourceOf(
    widgetDefinition([versionOf()], {
      conversion: {
        strategy: 'Webhook',
        webhook: {
          conversionReviewVersions: ['v2', 'v1'],
          clientConfig: { caBundle: server.caBundle, ...config },
        },
      },
    }),
  );
  return webhookConverter(resource, { webhooks, newUid: () => 'review' })
    .convert([OBJECT], 'v2')
    .catch(messageOf);
};

test('a webhook is asked by its URL or its Service, and may change labels but not the rest of metadata', async () => {
  const server = await serve((review) => reviewed(review));
  const converted = [
    {
      ...OBJECT,
      apiVersion: 'example.com/v2',
      metadata: { ...OBJECT.metadata, labels: { converted: 'yes' } },
    },
  ];
  const service = { name: 'convert', namespace: 'default', path: '/convert', port: 443 };
  expect([
    await convert(server, { url: server.url('/convert') }),
    await convert(server, { service }),
  ]).toEqual([converted, converted]);
});

const FAILED = 'Internal error occurred: conversion webhook for example.com/v1, Kind=Widget';

test.each<[string, (review: Review) => unknown, string]>([
  ['is no JSON', () => '<html>', `${FAILED} failed: `],
  [
    'is for another request',
    (review) => reviewed(review, { uid: 'other' }),
    `${FAILED} failed: expected response.uid="review", got "other"`,
  ],
  [
    'says why it could not',
    (review) => reviewed(review, { result: { status: 'Failure', message: 'too old' } }),
    `${FAILED} failed: too old`,
  ],
  [
    'lacks an object',
    (review) => reviewed(review, { convertedObjects: [] }),
    `${FAILED} returned 0 objects, expected 1`,
  ],
  [
    'has another version',
    (review) => reviewed(review, { convertedObjects: [OBJECT] }),
    `${FAILED} returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)`,
  ],
  [
    'is no review',
    () => ({ kind: 'Status', apiVersion: 'v1' }),
    `${FAILED} failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /v1, Kind=Status`,
  ],
])('an answer that %s fails the conversion', async (_what, answer, why) => {
  const server = await serve(answer);
  expect(await convert(server, { url: server.url() })).toMatch(
    new RegExp(`^${why.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}`),
  );
});

test('a webhook that is gone or shows a certificate of somebody else fails the conversion', async () => {
  const server = await serve((review) => reviewed(review));
  expect(await convert(server, { url: server.url(), caBundle: foreignCaBundle() })).toMatch(/certificate/);
  await server.close();
  closing.length = 0;
  expect(await convert(server, { url: server.url() })).toMatch(/connection refused/);
});
