import { connect } from 'node:net';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { listenMetrics, type MetricsListener } from './metrics-listener.ts';

const HOST = '127.0.0.1';
let listener: MetricsListener;

beforeEach(async () => {
  listener = await listenMetrics({
    listeners: [{ address: { host: HOST, port: 0 } }],
    handler: ({ path }) =>
      path === '/metrics' ? { status: 200, body: 'up 1\n' } : { status: 404, body: '404 page not found\n' },
    log: silentLog,
  });
});
afterEach(() => listener.close());

/** Sends bytes and resolves with what came back when the listener hung up. */
const exchange = async (bytes: string): Promise<string> => {
  const socket = connect(listener.ports[0]!, HOST);
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
  socket.end(bytes);
  await once(socket, 'close');
  return answer;
};

test('a scraper gets its answer over HTTP/1.1', async () => {
  const answer = await exchange('GET /metrics HTTP/1.1\r\nHost: m\r\nConnection: close\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nup 1\n$/);
});

test('the HTTP/2 preface of a gRPC client is rejected', async () => {
  expect(await exchange('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
});

test.each([
  ['a gRPC call over HTTP/1.1', 'POST /etcdserverpb.KV/Range HTTP/1.1\r\nContent-Type: application/grpc'],
  ['an upgrade to HTTP/2', 'GET /etcdserverpb.KV/Range HTTP/1.1\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk'],
])('%s finds nothing', async (_what, head) => {
  const answer = await exchange(`${head}\r\nHost: m\r\nConnection: close\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
});

test('one that cannot listen leaves no other listener open', async () => {
  const taken = listener.ports[0]!;
  const free = await listenMetrics({
    listeners: [{ address: { host: HOST, port: 0 } }],
    handler: () => never,
    log: silentLog,
  });
  const [port] = free.ports as [number];
  await free.close();
  const listeners = [port, taken].map((at) => ({ address: { host: HOST, port: at } }));
  await expect(listenMetrics({ listeners, handler: () => never, log: silentLog })).rejects.toThrow(
    'EADDRINUSE',
  );
  const again = await listenMetrics({
    listeners: [{ address: { host: HOST, port } }],
    handler: () => never,
    log: silentLog,
  });
  await again.close();
});

const never = { status: 404, body: '' };
