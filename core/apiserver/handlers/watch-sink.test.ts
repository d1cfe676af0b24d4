import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import WebSocket from 'ws';
import { RequestContext } from '../server/context.ts';
import { fakeContext } from '../server/testing/fake-context.ts';
import { openSink, type WatchSink } from './watch-sink.ts';

const URL_OF_WATCH = '/api/v1/namespaces/default/configmaps?watch=1';
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A server that hands each upgrade to a sink. */
const serve = async (use: (sink: WatchSink) => Promise<void>): Promise<string> => {
  const server = createServer();
  servers.push(server);
  server.on('upgrade', (message, socket, head) => {
    const headers = Object.fromEntries(Object.entries(message.headers).map(([k, v]) => [k, String(v)]));
    const { context } = fakeContext({ url: URL_OF_WATCH, headers });
    const { response, info, auditId, startedAtMs } = context;
    const request = { ...context.request, upgrade: () => ({ socket, head }) };
    void openSink(new RequestContext({ request, response, info, auditId, startedAtMs })).then(use);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}${URL_OF_WATCH}`;
};

const seenBy = (client: WebSocket): Promise<unknown[]> =>
  new Promise((resolve, reject) => {
    const seen: unknown[] = [];
    client.on('message', (data: Buffer, isBinary) => seen.push([data.toString(), isBinary]));
    client.once('close', (code) => resolve([...seen, code]));
    client.once('error', reject);
  });

test('a client that asks for a WebSocket gets one text frame an event, and a close', async () => {
  const url = await serve(async (sink) => {
    await sink.send([Buffer.from('{"type":"ADDED"}\n'), Buffer.from('{"type":"DELETED"}\n')]);
    await sink.end();
  });
  expect(await seenBy(new WebSocket(url))).toEqual([
    ['{"type":"ADDED"}\n', false],
    ['{"type":"DELETED"}\n', false],
    1000,
  ]);
});

test('the one subprotocol that a client names is agreed to', async () => {
  const url = await serve((sink) => sink.end());
  const client = new WebSocket(url, ['base64.binary.k8s.io']);
  const closed = seenBy(client);
  await new Promise((resolve) => client.once('open', resolve));
  expect(client.protocol).toBe('base64.binary.k8s.io');
  await closed;
});

test('every other client gets lines in the body', async () => {
  const { context, sent } = fakeContext({ url: URL_OF_WATCH });
  const sink = await openSink(context);
  await sink.send([Buffer.from('a\n'), Buffer.from('b\n')]);
  expect([sent.code, sent.headers.get('content-type'), sent.text()]).toEqual([
    200,
    'application/json',
    'a\nb\n',
  ]);
});
