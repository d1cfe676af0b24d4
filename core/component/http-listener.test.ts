import { afterEach, expect, test } from 'vitest';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { HttpListener } from './http-listener.ts';

const listener = new HttpListener((path) => {
  if (path === '/broken') throw new Error('broken');
  return path === '/healthz' ? { code: 200, body: 'ok' } : undefined;
});
afterEach(() => listener.destroy());

test('whatever is asked, it answers and continues', async () => {
  await listener.listen('127.0.0.1', 0);
  const ask = async (target: string): Promise<string> => {
    const socket = connect({ host: '127.0.0.1', port: listener.port });
    socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    return (await text(socket)).split('\r\n')[0]!;
  };
  expect([await ask('/healthz'), await ask('/nothing'), await ask('//'), await ask('/broken')]).toEqual([
    'HTTP/1.1 200 OK',
    'HTTP/1.1 404 Not Found',
    'HTTP/1.1 400 Bad Request',
    'HTTP/1.1 500 Internal Server Error',
  ]);
});
