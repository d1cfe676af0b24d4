import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { http1Acceptor } from './http1-acceptor.ts';

const TIMEOUT_MS = 50;

test('a connection that never ends its headers is closed, though the server does not listen itself', async () => {
  const http = createHttpServer(
    { headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS, connectionsCheckingInterval: TIMEOUT_MS },
    (_request, response) => void response.end('answer'),
  );
  const listener = createServer(http1Acceptor(http)).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const slow = connect(port, '127.0.0.1', () => slow.write('GET / HTTP/1.1\r\nHost: x\r\n'));
  let said = '';
  slow.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await once(slow, 'close');
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  expect([said.split('\r\n')[0], await answer.text()]).toEqual(['HTTP/1.1 408 Request Timeout', 'answer']);
  http.close();
  http.closeAllConnections();
  listener.close();
});
