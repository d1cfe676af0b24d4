import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { encodeHeaders } from '../../core/base/node/http2/hpack.ts';
import { FLAG, FRAME, frame, PREFACE, SETTING, settingsPayload } from '../../core/base/node/http2/frame.ts';
import type { Credential } from '../../core/pki/index.ts';
import type { Stage, StageResult } from '../../core/apiserver/server/pipeline.ts';
import {
  authority,
  clientOf,
  PROTOCOLS,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from '../support/apiserver.ts';
import { until } from '../support/until.ts';

const [[, http1], [, http2]] = PROTOCOLS;
const jane = clientOf(authority, 'jane', []);
const OPEN = FLAG.endHeaders | FLAG.endStream;

const running: TestServer[] = [];
const sockets: TLSSocket[] = [];
const start = async (options?: TestServerOptions): Promise<TestServer> => {
  const started = await startTestServer({ isAnonymousAllowed: true, ...options });
  running.push(started);
  return started;
};
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(running.splice(0).map(({ server }) => server.shutdown({ graceMs: 1 })));
});

/** A connection that never gives a window: it asks, and takes nothing of any answer. */
const stallingConnection = async (
  port: number,
  paths: readonly string[],
  credential?: Credential,
): Promise<TLSSocket> => {
  const socket = await new Promise<TLSSocket>((resolve, reject) => {
    const made = connectTls(
      {
        port,
        host: '127.0.0.1',
        ca: authority.certificatePem,
        ALPNProtocols: ['h2'],
        ...(credential && { cert: credential.certificatePem, key: credential.privateKeyPem }),
      },
      () => resolve(made),
    );
    made.once('error', reject);
  });
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.resume();
  const asked = paths.map((path, at) =>
    frame(
      FRAME.headers,
      OPEN,
      2 * at + 1,
      encodeHeaders([
        { name: ':method', value: 'GET' },
        { name: ':scheme', value: 'https' },
        { name: ':path', value: path },
      ]),
    ),
  );
  const settings = frame(FRAME.settings, 0, 0, settingsPayload([[SETTING.initialWindowSize, 0]]));
  socket.write(Buffer.concat([PREFACE, settings, ...asked]));
  return socket;
};

const repeated = (count: number, path: string): string[] => Array.from({ length: count }, () => path);

test('five anonymous connections that take nothing keep no one else from being served', async () => {
  const { port, server } = await start();
  for (let n = 0; n < 5; n += 1) await stallingConnection(port, repeated(100, '/version'));
  await until('the stalled requests', () => server.requestCount >= 500);
  const codes = await Promise.all(
    [http1, http2].flatMap((ask) => [
      ask({ port, path: '/readyz' }),
      ask({ port, path: '/version', credential: jane }),
    ]),
  );
  expect(codes.map(({ code }) => code)).toEqual([200, 200, 200, 200]);
});

test('an answer that a client never takes ends with the time of its request', async () => {
  const { port, server } = await start({ limits: { requestTimeoutMs: 200 } });
  const socket = await stallingConnection(port, repeated(10, '/version'));
  await until('the stalled requests', () => server.requestCount === 10);
  await until('the end of the stalled requests', () => server.requestCount === 0);
  socket.destroy();
});

test('a request that fails for its time is over as well when the client does not take that news', async () => {
  const stuck: Stage = {
    name: 'stuck',
    async run({ request, info }): Promise<StageResult> {
      if (info.path !== '/api/stuck') return 'next';
      await new Promise((resolve) => request.signal.addEventListener('abort', resolve, { once: true }));
      return 'done';
    },
  };
  const { port, server } = await start({ handlers: [stuck], limits: { requestTimeoutMs: 300 } });
  await stallingConnection(port, ['/api/stuck'], jane);
  await until('the stalled request', () => server.requestCount === 1);
  await until('the end of the stalled request', () => server.requestCount === 0);
});

test('large answers that no one takes are bounded, and who reads is served', async () => {
  const bytesMax = 8 * 1024 * 1024;
  const large: Stage = {
    name: 'large',
    async run({ response, info }) {
      if (info.path !== '/api/large') return 'next';
      await response.send(200, 'text/plain', Buffer.alloc(1024 * 1024));
      return 'done';
    },
  };
  const { port } = await start({ handlers: [large], limits: { stalledBytesMax: bytesMax } });
  const before = process.memoryUsage().arrayBuffers;
  const stalled: TLSSocket[] = [];
  for (let n = 0; n < 10; n += 1)
    stalled.push(await stallingConnection(port, repeated(20, '/api/large'), jane));
  await until(
    'connections of stalled clients to be closed',
    () => stalled.filter(({ closed }) => closed).length >= 9,
  );
  const answer = await http2({ port, path: '/version', credential: jane });
  expect([answer.code, process.memoryUsage().arrayBuffers - before < 8 * bytesMax]).toEqual([200, true]);
});

test('however many connections strangers hold open, a client that authenticates is let in', async () => {
  const { port } = await start({ limits: { strangersMax: 20 } });
  const idle: TLSSocket[] = [];
  for (let n = 0; n < 40; n += 1) idle.push(await stallingConnection(port, []));
  await until('the oldest connections to be closed', () => idle.filter(({ closed }) => closed).length === 20);
  const session = await http2({ port, path: '/version', credential: jane });
  expect([session.code, (await http1({ port, path: '/version', credential: jane })).code]).toEqual([
    200, 200,
  ]);
});
