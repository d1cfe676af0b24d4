import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import WebSocket from 'ws';
import { RequestContext } from '../server/context.ts';
import { fakeContext } from '../server/testing/fake-context.ts';
import { forwardLog } from './forward-log.ts';

const PATH = '/api/v1/namespaces/default/pods/web/log';
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const listen = async (server: Server): Promise<number> => {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

/** A kubelet that writes two lines, one after the other; and an API server before it. */
const start = async (): Promise<string> => {
  const kubelet = await listen(
    createServer((_request, response) => {
      response.write('one\n');
      setImmediate(() => response.end('two\n'));
    }),
  );
  const front = createServer();
  front.on('upgrade', (message, socket, head) => {
    const headers = Object.fromEntries(Object.entries(message.headers).map(([k, v]) => [k, String(v)]));
    const { context } = fakeContext({ url: PATH, headers });
    const { response, info, auditId, startedAtMs } = context;
    const request = { ...context.request, isUpgrade: true, upgrade: () => ({ socket, head }) };
    const backend = { host: '127.0.0.1', port: kubelet, path: '/', connectTimeoutMs: 5000 };
    forwardLog(new RequestContext({ request, response, info, auditId, startedAtMs }), backend, 'web').catch(
      (error: { code: number }) => socket.end(`HTTP/1.1 ${error.code} Refused\r\nContent-Length: 0\r\n\r\n`),
    );
  });
  return `ws://127.0.0.1:${await listen(front)}${PATH}`;
};

/** All that was received as text, the first frame, and how it ended. */
const received = (client: WebSocket, decode: (data: Buffer) => string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const frames: string[] = [];
    let isBinary: boolean | undefined;
    client.on('message', (data: Buffer, binary) => {
      isBinary = binary;
      frames.push(decode(data));
    });
    client.once('close', (code) => resolve({ first: frames[0], text: frames.join(''), isBinary, code }));
    client.once('error', reject);
  });

test.each([
  ['no subprotocol', [], true, (data: Buffer) => data.toString()],
  ['binary.k8s.io', ['binary.k8s.io'], true, (data: Buffer) => data.toString()],
  [
    'base64.binary.k8s.io',
    ['base64.binary.k8s.io'],
    false,
    (data: Buffer) => Buffer.from(data.toString(), 'base64').toString(),
  ],
] as const)(
  'with %s a log comes in frames, after an empty one',
  async (_name, protocols, isBinary, decode) => {
    const client = new WebSocket(await start(), [...protocols]);
    expect(await received(client, decode)).toEqual({ first: '', text: 'one\ntwo\n', isBinary, code: 1000 });
  },
);

test('a subprotocol that is not known is refused', async () => {
  const client = new WebSocket(await start(), ['other.example.com']);
  await expect(received(client, String)).rejects.toThrow('Unexpected server response: 403');
});
