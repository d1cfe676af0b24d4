import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { http1Outbound } from './outbound.ts';
import { warningHeader } from './warnings.ts';

test('a warning reaches a client of HTTP/1.1 as UTF-8', async () => {
  const server = createServer((_request, response) => {
    const outbound = http1Outbound(response, () => false);
    outbound.head(200, new Map([['warning', warningHeader('unknown field "ä€"')]]));
    outbound.write(Buffer.from('x'));
    void outbound.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const request = get({ port: (server.address() as AddressInfo).port, agent: false });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  server.close();
  // Node reads a header as one character a byte.
  expect(Buffer.from(answer.headers['warning'] as string, 'latin1').toString('utf8')).toBe(
    '299 - "unknown field \\"ä€\\""',
  );
});
