import http from 'node:http';
import http2 from 'node:http2';
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { strangersKeySpace } from './etcd-probe.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const listen = async (server: Server): Promise<number> => {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

const grpc = (status: string) =>
  http2.createServer().on('stream', (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status }));
    stream.end(Buffer.from([0, 0, 0, 0, 0]));
  });

const json = (code: number, text: string) =>
  http.createServer((_request, response) => {
    response.writeHead(code, { 'content-type': 'application/json' });
    response.end(text);
  });

test('keys that are served in plain text are found, by gRPC and by JSON', async () => {
  expect([
    await strangersKeySpace('127.0.0.1', await listen(grpc('0'))),
    await strangersKeySpace('127.0.0.1', await listen(json(200, '{"header":{"revision":"1"},"count":"3"}'))),
  ]).toEqual([['plain'], ['plain']]);
});

test('refusals and answers of other servers are not', async () => {
  const page = http2.createServer((_request, response) => void response.end('{"kind":"Status"}'));
  const hasClosed = await listen(json(200, '{}'));
  servers.pop()!.close();
  expect([
    await strangersKeySpace('127.0.0.1', await listen(grpc('16'))),
    await strangersKeySpace('127.0.0.1', await listen(json(404, '{"header":{}}'))),
    await strangersKeySpace('127.0.0.1', await listen(page)),
    await strangersKeySpace('127.0.0.1', hasClosed),
  ]).toEqual([[], [], [], []]);
});
