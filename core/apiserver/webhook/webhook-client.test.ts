import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../base/node/clock.ts';
import {
  foreignCaBundle,
  startTestWebhook,
  type Respond,
  type TestWebhook,
} from './testing/webhook-server.ts';
import { createWebhookClient, type WebhookCallError, type WebhookClient } from './webhook-client.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const start = async (
  respond: Respond,
  options: { names?: string[] } = {},
): Promise<{ server: TestWebhook; client: WebhookClient }> => {
  const server = await startTestWebhook(respond, options);
  closing.push(() => server.close());
  const client = createWebhookClient({
    clock: systemClock,
    resolve: ({ name }) =>
      name === 'hook'
        ? Promise.resolve({ host: '127.0.0.1', port: server.port })
        : Promise.reject(new Error(`service "${name}" not found`)),
  });
  closing.push(() => client.dispose());
  return { server, client };
};

const signal = (): AbortSignal => new AbortController().signal;
const json =
  (value: unknown, code = 200): Respond =>
  (_body, response) => {
    response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
const failure = async (answer: Promise<unknown>): Promise<string> =>
  answer.then(
    () => 'answered',
    (error: WebhookCallError) => error.message,
  );

test('an answer comes back as JSON, and its connection is used again', async () => {
  const seen: unknown[] = [];
  const { server, client } = await start((body, response, { url, headers, method }) => {
    seen.push([method, url, headers['content-type'], body]);
    return json({ kind: 'X', n: seen.length })(body, response, undefined as never);
  });
  const target = { url: server.url('/path'), caBundle: server.caBundle };
  expect(await client.post(target, { a: 1 }, { timeoutMs: 9_500, signal: signal() })).toEqual({
    kind: 'X',
    n: 1,
  });
  expect(await client.post(target, { a: 2 }, { signal: signal() })).toEqual({ kind: 'X', n: 2 });
  expect([seen, server.connectionCount()]).toEqual([
    [
      ['POST', '/path?timeout=10s', 'application/json', '{"a":1}'],
      ['POST', '/path', 'application/json', '{"a":2}'],
    ],
    1,
  ]);
});

test('a service is reached at its endpoint under its own name', async () => {
  const { server, client } = await start(json({ kind: 'X' }), { names: ['hook.ns.svc'] });
  const { caBundle } = server;
  const service = { namespace: 'ns', name: 'hook', path: '/p' };
  expect(await client.post({ service, caBundle }, {}, { signal: signal() })).toEqual({ kind: 'X' });
  const wrongName = { ...service, namespace: 'other' };
  expect(await failure(client.post({ service: wrongName, caBundle }, {}, { signal: signal() }))).toBe(
    'Post "https://hook.other.svc:443/p": tls: failed to verify certificate: x509: certificate is valid for hook.ns.svc, not hook.other.svc',
  );
  const missing = { ...service, name: 'none', port: 8443 };
  expect(await failure(client.post({ service: missing, caBundle }, {}, { signal: signal() }))).toBe(
    'Post "https://none.ns.svc:8443/p": service "none" not found',
  );
});

test('a certificate without any name of the kind that was asked for says so', async () => {
  const address = await start(json({}), { names: ['127.0.0.1'] });
  const service = { namespace: 'ns', name: 'hook' };
  expect(
    await failure(
      address.client.post({ service, caBundle: address.server.caBundle }, {}, { signal: signal() }),
    ),
  ).toBe(
    'Post "https://hook.ns.svc:443/": tls: failed to verify certificate: x509: certificate is not valid for any names, but wanted to match hook.ns.svc',
  );
  const named = await start(json({}), { names: ['hook.ns.svc'] });
  const target = { url: named.server.url(), caBundle: named.server.caBundle };
  expect(await failure(named.client.post(target, {}, { signal: signal() }))).toBe(
    `Post "https://127.0.0.1:${named.server.port}/": tls: failed to verify certificate: x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs`,
  );
});

test('a webhook that hangs is given up after its time, and when the caller is gone', async () => {
  const { server, client } = await start(() => undefined);
  const target = { url: server.url(), caBundle: server.caBundle };
  expect(await failure(client.post(target, {}, { timeoutMs: 50, signal: signal() }))).toBe(
    `Post "https://127.0.0.1:${server.port}/?timeout=1s": context deadline exceeded`,
  );
  const caller = new AbortController();
  const asking = client.post(target, {}, { signal: caller.signal });
  caller.abort();
  await expect(asking).rejects.toMatchObject({
    message: `Post "https://127.0.0.1:${server.port}/": context canceled`,
    isCanceled: true,
  });
});

test.each<[string, Respond, string]>([
  [
    'garbage',
    (_body, response) => void response.end('<html>'),
    'couldn\'t get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
  ],
  [
    'half an object',
    (_body, response) => void response.end('{"a":'),
    "couldn't get version/kind; json parse error: unexpected end of JSON input",
  ],
  [
    'nothing',
    (_body, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(),
    '0-length response with status code: 200 and content type: application/json',
  ],
  ['not found', json({}, 404), 'the server could not find the requested resource'],
  [
    'a broken server',
    (_body, response) => void response.writeHead(500, { 'content-type': 'text/plain' }).end('boom\n'),
    'an error on the server ("boom") has prevented the request from succeeding',
  ],
  [
    'a Status',
    json({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'not now', code: 503 }, 503),
    'not now',
  ],
  [
    'a redirect',
    (_body, response) => void response.writeHead(307, { location: 'https://127.0.0.1:1/' }).end(),
    'the server responded with the status code 307 but did not return more information',
  ],
])('%s is reported in the words of client-go', async (_name, respond, expected) => {
  const { server, client } = await start(respond);
  const target = { url: server.url(), caBundle: server.caBundle };
  expect(await failure(client.post(target, {}, { signal: signal() }))).toBe(expected);
});

test('an answer without end is cut off', async () => {
  const { server, client } = await start(async (_body, response) => {
    const chunk = 'x'.repeat(64 * 1024);
    response.on('error', () => undefined);
    while (!response.destroyed && !response.closed)
      if (!response.write(chunk))
        await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
  });
  const target = { url: server.url(), caBundle: server.caBundle };
  expect(await failure(client.post(target, {}, { signal: signal(), responseBytesMax: 1000 }))).toBe(
    `Post "https://127.0.0.1:${server.port}/": webhook response is larger than 1000 bytes`,
  );
});

test('a certificate of another authority is rejected', async () => {
  const { server, client } = await start(json({}));
  const target = { url: server.url(), caBundle: foreignCaBundle() };
  expect(await failure(client.post(target, {}, { signal: signal() }))).toBe(
    `Post "https://127.0.0.1:${server.port}/": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
  );
});

test('a webhook that is gone refuses, also after a connection to it was kept', async () => {
  const { server, client } = await start(json({ kind: 'X' }));
  const target = { url: server.url(), caBundle: server.caBundle };
  await client.post(target, {}, { signal: signal() });
  await server.close();
  closing.shift();
  expect(await failure(client.post(target, {}, { signal: signal() }))).toBe(
    `Post "https://127.0.0.1:${server.port}/": dial tcp 127.0.0.1:${server.port}: connect: connection refused`,
  );
});

test('a webhook without a URL or a service is rejected', async () => {
  const { client } = await start(json({}));
  expect(await failure(client.post({}, {}, { signal: signal() }))).toBe(
    'webhook configuration must have either service or URL',
  );
  expect(await failure(client.post({ url: 'http://127.0.0.1/' }, {}, { signal: signal() }))).toBe(
    'unsupported protocol scheme "http"',
  );
});
