import { afterEach, expect, test } from 'vitest';
import { tcpClient, testNetwork } from '../forwarding/testing/sockets.ts';
import { HttpListener } from './http-listener.ts';

const NET = testNetwork(0);
const ADDRESS = `${NET}.4.1`;
const PORT = 4300;

const listener = new HttpListener((path) => {
  if (path === '/broken') throw new Error('broken');
  return path === '/healthz' ? { code: 200, body: 'ok' } : undefined;
});
afterEach(() => listener.destroy());

test('whatever is asked, it answers and continues', async () => {
  await listener.listen(ADDRESS, PORT);
  const ask = async (target: string): Promise<string> => {
    const client = tcpClient(ADDRESS, PORT);
    client.socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    await client.over;
    client.socket.destroy();
    return client.text.split('\r\n')[0]!;
  };
  expect([await ask('/healthz'), await ask('/nothing'), await ask('//'), await ask('/broken')]).toEqual([
    'HTTP/1.1 200 OK',
    'HTTP/1.1 404 Not Found',
    'HTTP/1.1 400 Bad Request',
    'HTTP/1.1 500 Internal Server Error',
  ]);
});
