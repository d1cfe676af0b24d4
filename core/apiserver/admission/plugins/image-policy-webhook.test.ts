import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../../base/node/clock.ts';
import type { KubernetesObject } from '../../../api/meta/index.ts';
import { startTestWebhook, type Respond } from '../../webhook/testing/webhook-server.ts';
import { createWebhookClient } from '../../webhook/webhook-client.ts';
import { verdict, wish } from '../testing/fixtures.ts';
import { imagePolicyWebhook, type ImagePolicyConfiguration } from './image-policy-webhook.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const open = async (respond: Respond, rest: Partial<ImagePolicyConfiguration> = {}) => {
  const server = await startTestWebhook(respond);
  const client = createWebhookClient({
    clock: systemClock,
    resolve: () => Promise.reject(new Error('none')),
  });
  closing.push(
    () => server.close(),
    () => client.dispose(),
  );
  return imagePolicyWebhook(client, systemClock, {
    target: { url: server.url('/images'), caBundle: server.caBundle },
    allowTtlMs: 60_000,
    denyTtlMs: 60_000,
    retryBackoffMs: 1,
    defaultAllow: false,
    ...rest,
  });
};

const pod = (image: string): KubernetesObject => ({
  metadata: { namespace: 'ns', name: 'p', annotations: { 'my.image-policy.k8s.io/ticket': '7', other: 'x' } },
  spec: { containers: [{ name: 'c', image }] },
});
const reviewing =
  (seen: unknown[]): Respond =>
  (body, response) => {
    const { spec } = JSON.parse(body) as { spec: { containers: { image: string }[] } };
    seen.push(spec);
    const allowed = spec.containers.every(({ image }) => image.startsWith('good'));
    response.end(JSON.stringify({ status: { allowed, ...(!allowed && { reason: 'not signed' }) } }));
  };

test('the backend gets the images and decides, once for the same request', async () => {
  const seen: unknown[] = [];
  const plugin = await open(reviewing(seen));
  const outcomes = [];
  for (const image of ['good:1', 'bad:1', 'good:1'])
    outcomes.push(await verdict(plugin, wish({ object: pod(image) })));
  expect(outcomes).toEqual([
    'ok',
    'pods "p" is forbidden: image policy webhook backend denied one or more images: not signed',
    'ok',
  ]);
  const asked = (image: string) => ({
    containers: [{ image }],
    annotations: { 'my.image-policy.k8s.io/ticket': '7' },
    namespace: 'ns',
  });
  expect(seen).toEqual([asked('good:1'), asked('bad:1')]);
});

test('a backend that fails is asked again, and then denies or lets pass as it is configured', async () => {
  let calls = 0;
  const failing: Respond = (_body, response) => {
    calls += 1;
    response.writeHead(503).end();
  };
  const closed = await open(failing);
  expect(await verdict(closed, wish({ object: pod('x') }))).toBe(
    'pods "p" is forbidden: the server is currently unable to handle the request',
  );
  expect(calls).toBe(5);
  const attributes = wish({ object: pod('x') });
  expect(await verdict(await open(failing, { defaultAllow: true }), attributes)).toBe('ok');
  expect([...attributes.annotations]).toEqual([
    ['imagepolicywebhook.image-policy.k8s.io/failed-open', 'true'],
  ]);
});
