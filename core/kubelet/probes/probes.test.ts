import http2 from 'node:http2';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../base/node/clock.ts';
import { container } from '../testing/world.ts';
import type { RunningContainer } from '../runtimes/runtime.ts';
import { runAction } from './action.ts';

const closers: (() => void)[] = [];
afterEach(() => closers.splice(0).forEach((close) => close()));

const target = {
  podIP: '127.0.0.1',
  spec: container('app', { ports: [{ containerPort: 9, name: 'closed' }] }),
  container: {} as RunningContainer,
  clock: systemClock,
  userAgent: 'kube-probe/1.36',
};

/** A health service that answers each service name with a status; without trailers for the unknown. */
const health = async (statuses: Readonly<Record<string, number>>): Promise<number> => {
  const server = http2.createServer();
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.once('end', () => {
      const service = Buffer.concat(chunks).subarray(7).toString();
      const status = statuses[service];
      const isRight = headers[':path'] === '/grpc.health.v1.Health/Check';
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.once('wantTrailers', () =>
        stream.sendTrailers(
          status === undefined || !isRight
            ? { 'grpc-status': '12', 'grpc-message': 'unknown' }
            : { 'grpc-status': '0' },
        ),
      );
      stream.end(status === undefined ? undefined : Buffer.from([0, 0, 0, 0, 2, 0x08, status]));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close());
  return (server.address() as AddressInfo).port;
};

test('a gRPC probe asks the health service by name', async () => {
  const port = await health({ up: 1, down: 2 });
  const ask = (service: string) => runAction({ grpc: { port, service } }, target, 2_000);
  expect(await ask('up')).toEqual({ ok: true, output: 'service healthy' });
  expect(await ask('down')).toEqual({
    ok: false,
    output: 'service unhealthy (responded with "NOT_SERVING")',
  });
  expect(await ask('none')).toEqual({
    ok: false,
    output: 'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): unknown',
  });
});

test('a port that no one listens on is refused in Go’s words, also by its name', async () => {
  expect(await runAction({ httpGet: { port: 'closed', path: 'x' } }, target, 1_000)).toEqual({
    ok: false,
    output: 'Get "http://127.0.0.1:9/x": dial tcp 127.0.0.1:9: connect: connection refused',
  });
  expect(await runAction({ tcpSocket: { port: 9 } }, target, 1_000)).toEqual({
    ok: false,
    output: 'dial tcp 127.0.0.1:9: connect: connection refused',
  });
});
