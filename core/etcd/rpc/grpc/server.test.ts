import { connect as connectHttp2 } from 'node:http2';
import { get } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import * as grpc from '@grpc/grpc-js';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../../base/node/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { PutRequest, PutResponse, RangeRequest, RangeResponse } from '../../proto/index.ts';
import { Router } from './router.ts';
import { StatusError } from './status.ts';
import { bidiStream, serverStream, unary } from './method.ts';
import { listen } from './server.ts';
import { servePlain } from './plain-http.ts';
import type { GrpcServer } from './server.ts';
import type { Method } from './method.ts';

const SERVICE = 'test.Echo';
const MESSAGE_BYTES_MAX = 1024 * 1024;
const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const echo = unary(SERVICE, 'Echo', {
  request: PutRequest,
  response: RangeResponse,
  handle: async ({ key, value }) => ({ kvs: [{ key, value }] }),
});

const http = servePlain(({ path }) => ({ status: path === '/health' ? 200 : 404, body: path }));

const start = async (methods: readonly Method[] = [echo]) => {
  const events: string[] = [];
  const router = new Router({
    methods,
    messageBytesMax: MESSAGE_BYTES_MAX,
    clock: systemClock,
    observer: {
      started: ({ method }) => events.push(`started ${method}`),
      messageReceived: ({ method }) => events.push(`received ${method}`),
      messageSent: ({ method }) => events.push(`sent ${method}`),
      handled: ({ method }, code) => events.push(`handled ${method} ${code}`),
    },
    admit() {},
    statusOf: (error) => ({ code: 'Unknown', text: String(error) }),
    http,
  });
  const server = await listen({
    address: { host: '127.0.0.1', port: 0 },
    route: (stream, peer) => router.route(stream, peer),
    http,
    clock: systemClock,
    log: silentLog,
  });
  opened.push(() => server.close({ graceMs: 0 }));
  const client = new grpc.Client(`127.0.0.1:${server.port}`, grpc.credentials.createInsecure(), {
    'grpc.max_receive_message_length': -1,
  });
  opened.push(() => client.close());
  return { server, client, events };
};

const serialize = (value: Parameters<typeof PutRequest.encode>[0]): Buffer => PutRequest.encode(value);
const call = (
  client: grpc.Client,
  path: string,
  request: Buffer,
  options: { deadlineMs?: number } = {},
): Promise<RangeResponse> =>
  new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      path,
      (bytes: Buffer) => bytes,
      (bytes: Buffer) => RangeResponse.decode(bytes),
      request,
      new grpc.Metadata(),
      options.deadlineMs === undefined ? {} : { deadline: Date.now() + options.deadlineMs },
      (error, value) => (error === null ? resolve(value!) : reject(error)),
    );
  });
const echoed = async (client: grpc.Client, text: string): Promise<string> => {
  const response = await call(client, `/${SERVICE}/Echo`, serialize({ key: Buffer.from(text) }));
  return Buffer.from(response.kvs[0]!.key).toString();
};
const failure = (promise: Promise<unknown>): Promise<{ code: number; details: string }> =>
  promise.then(
    () => ({ code: 0, details: 'no failure' }),
    (error: grpc.ServiceError) => ({ code: error.code, details: error.details }),
  );

test('a unary call is answered, and observed once at every step', async () => {
  const { client, events } = await start();
  expect(await echoed(client, 'hello')).toBe('hello');
  expect(events).toEqual(['started Echo', 'received Echo', 'sent Echo', 'handled Echo OK']);
});

test('many calls at the same time on one connection each get their own answer', async () => {
  const { client } = await start();
  const texts = Array.from({ length: 300 }, (_, index) => `call ${index}`);
  expect(await Promise.all(texts.map((text) => echoed(client, text)))).toEqual(texts);
});

test('an answer larger than every window arrives whole', async () => {
  const big = Buffer.alloc(9 * 1024 * 1024, 'x');
  const { client } = await start([
    unary(SERVICE, 'Echo', {
      request: PutRequest,
      response: RangeResponse,
      handle: () => ({ kvs: [{ value: big }] }),
    }),
  ]);
  const response = await call(client, `/${SERVICE}/Echo`, serialize({}));
  expect(Buffer.compare(response.kvs[0]!.value, big)).toBe(0);
});

test('a request of many frames arrives whole', async () => {
  const { client } = await start();
  const value = Buffer.alloc(MESSAGE_BYTES_MAX - 100, 'y');
  const response = await call(client, `/${SERVICE}/Echo`, serialize({ value }));
  expect(Buffer.compare(response.kvs[0]!.value, value)).toBe(0);
});

test('a request above the limit is refused in the words of grpc-go, and the connection continues', async () => {
  const { client } = await start();
  const request = serialize({ value: Buffer.alloc(MESSAGE_BYTES_MAX) });
  expect(await failure(call(client, `/${SERVICE}/Echo`, request))).toEqual({
    code: grpc.status.RESOURCE_EXHAUSTED,
    details: `grpc: received message larger than max (${request.length} vs. ${MESSAGE_BYTES_MAX})`,
  });
  expect(await echoed(client, 'still here')).toBe('still here');
});

test('unknown services and methods have distinct errors', async () => {
  const { client } = await start();
  expect([
    await failure(call(client, '/nobody.Knows/It', serialize({}))),
    await failure(call(client, `/${SERVICE}/Nothing`, serialize({}))),
  ]).toEqual([
    { code: grpc.status.UNIMPLEMENTED, details: 'unknown service nobody.Knows' },
    { code: grpc.status.UNIMPLEMENTED, details: `unknown method Nothing for service ${SERVICE}` },
  ]);
});

test('a thrown status reaches the client with its text, percent signs and umlauts included', async () => {
  const { client } = await start([
    unary(SERVICE, 'Echo', {
      request: PutRequest,
      response: PutResponse,
      handle: () => Promise.reject(new StatusError('OutOfRange', '100% zu groß\n')),
    }),
  ]);
  expect(await failure(call(client, `/${SERVICE}/Echo`, serialize({})))).toEqual({
    code: grpc.status.OUT_OF_RANGE,
    details: '100% zu groß\n',
  });
});

test('bytes that are not the request are an error of that call alone', async () => {
  const { client } = await start();
  const result = await failure(call(client, `/${SERVICE}/Echo`, Buffer.from([0x0a, 0xff, 0x01])));
  expect(result.code).toBe(grpc.status.INTERNAL);
  expect(result.details).toContain('grpc: error unmarshalling request: proto: ');
  expect(await echoed(client, 'still here')).toBe('still here');
});

test('a deadline ends the call and tells its handler', async () => {
  let told: Promise<void> | undefined;
  const { client, events } = await start([
    unary(SERVICE, 'Echo', {
      request: PutRequest,
      response: PutResponse,
      handle: (_request, { signal }) => {
        told = new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
        return new Promise<never>(() => undefined);
      },
    }),
  ]);
  const result = await failure(call(client, `/${SERVICE}/Echo`, serialize({}), { deadlineMs: 1000 }));
  await told;
  expect(result.code).toBe(grpc.status.DEADLINE_EXCEEDED);
  expect(events.filter((event) => event.startsWith('handled'))).toHaveLength(1);
});

test('a server stream delivers everything in order to a reader that pauses', async () => {
  const count = 400;
  const payload = Buffer.alloc(32 * 1024, 'z');
  let queuedBytesPeak = 0;
  const { client } = await start([
    serverStream(SERVICE, 'Many', {
      request: RangeRequest,
      response: RangeResponse,
      async handle(_request, stream) {
        for (let index = 0; index < count; index += 1) {
          stream.send({ count: index, kvs: [{ value: payload }] });
          queuedBytesPeak = Math.max(queuedBytesPeak, stream.queuedBytes);
          if (!(await stream.drained())) return;
        }
      },
    }),
  ]);
  const stream = client.makeServerStreamRequest(
    `/${SERVICE}/Many`,
    (bytes: Buffer) => bytes,
    (bytes: Buffer) => RangeResponse.decode(bytes),
    Buffer.alloc(0),
  );
  const counts: number[] = [];
  for await (const response of stream as AsyncIterable<RangeResponse>) {
    counts.push(response.count);
    if (counts.length % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(counts).toEqual(Array.from({ length: count }, (_, index) => index));
  expect(queuedBytesPeak).toBeLessThan(256 * 1024);
});

test('a bidirectional stream answers each message, ends when the client ends, and hears a cancel', async () => {
  let cancelled: (() => void) | undefined;
  const heard = new Promise<void>((resolve) => (cancelled = resolve));
  const { client } = await start([
    bidiStream(SERVICE, 'Chat', {
      request: PutRequest,
      response: RangeResponse,
      async handle(stream) {
        for (;;) {
          const request = await stream.receive();
          if (request === undefined) break;
          stream.send({ kvs: [{ key: request.key }] });
        }
        if (stream.over) cancelled?.();
      },
    }),
  ]);
  const open = () =>
    client.makeBidiStreamRequest(`/${SERVICE}/Chat`, serialize, (bytes: Buffer) =>
      RangeResponse.decode(bytes),
    );
  const chat = open();
  for (const text of ['a', 'b', 'c']) chat.write({ key: Buffer.from(text) });
  chat.end();
  const answers: string[] = [];
  for await (const response of chat as AsyncIterable<RangeResponse>)
    answers.push(Buffer.from(response.kvs[0]!.key).toString());
  expect(answers).toEqual(['a', 'b', 'c']);

  const second = open();
  second.on('error', () => undefined);
  second.on('data', () => second.cancel());
  second.write({ key: Buffer.from('x') });
  await heard;
});

const http1 = (port: number, path: string): Promise<string> =>
  new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve(`${response.statusCode} ${body}`));
    }).on('error', reject);
  });

/** Node's own HTTP/2 client: an implementation independent of ours. */
const http2 = (port: number, headers: Record<string, string>, body?: Buffer) =>
  new Promise<{ head: Record<string, unknown>; trailers: Record<string, unknown>; body: Buffer }>(
    (resolve, reject) => {
      const session = connectHttp2(`http://127.0.0.1:${port}`);
      session.on('error', reject);
      const request = session.request(headers);
      const result = { head: {}, trailers: {}, body: Buffer.alloc(0) };
      request.on('response', (head) => (result.head = head));
      request.on('trailers', (trailers) => (result.trailers = trailers));
      request.on('data', (chunk: Buffer) => (result.body = Buffer.concat([result.body, chunk])));
      request.on('close', () => {
        session.close();
        resolve(result);
      });
      request.end(body);
    },
  );

test('plain HTTP is answered on the same port over HTTP/1 and HTTP/2', async () => {
  const { server } = await start();
  expect([await http1(server.port, '/health?x=1'), await http1(server.port, '/nope')]).toEqual([
    '200 /health',
    '404 /nope',
  ]);
  const answer = await http2(server.port, { ':path': '/health' });
  expect([answer.head[':status'], answer.body.toString()]).toEqual([200, '/health']);
});

const framed = (payload: Buffer, flag = 0): Buffer => {
  const head = Buffer.from([flag, 0, 0, 0, 0]);
  head.writeUInt32BE(payload.length, 1);
  return Buffer.concat([head, payload]);
};
const grpcHeaders = (extra: Record<string, string> = {}) => ({
  ':method': 'POST',
  ':path': `/${SERVICE}/Echo`,
  'content-type': 'application/grpc',
  te: 'trailers',
  ...extra,
});

test('a gzip-compressed request is understood, another compression is refused by name', async () => {
  const { server } = await start();
  const body = framed(gzipSync(serialize({ key: Buffer.from('packed') })), 1);
  const answer = await http2(server.port, grpcHeaders({ 'grpc-encoding': 'gzip' }), body);
  expect(Buffer.from(RangeResponse.decode(answer.body.subarray(5)).kvs[0]!.key).toString()).toBe('packed');
  const refused = await http2(server.port, grpcHeaders({ 'grpc-encoding': 'snappy' }), body);
  expect([refused.head['grpc-status'], refused.head['grpc-message']]).toEqual([
    '12',
    'grpc: Decompressor is not installed for grpc-encoding "snappy"',
  ]);
});

test('a gzip bomb is stopped at the message limit', async () => {
  const { server } = await start();
  const body = framed(gzipSync(Buffer.alloc(64 * 1024 * 1024)), 1);
  const answer = await http2(server.port, grpcHeaders({ 'grpc-encoding': 'gzip' }), body);
  expect(answer.head['grpc-status']).toBe(String(grpc.status.RESOURCE_EXHAUSTED));
});

test('a call without a message, or cut inside one, ends with a status', async () => {
  const { server } = await start();
  const statuses: unknown[] = [];
  for (const body of [Buffer.alloc(0), Buffer.from([0, 0, 0]), Buffer.from([0, 0, 0, 0, 9, 1, 2])])
    statuses.push((await http2(server.port, grpcHeaders(), body)).head['grpc-status']);
  expect(statuses).toEqual(['13', '13', '13']);
});

test('closing lets a running call finish, refuses new ones, and returns', async () => {
  let finish: (() => void) | undefined;
  let entered: (() => void) | undefined;
  const inside = new Promise<void>((resolve) => (entered = resolve));
  const { server, client } = await start([
    unary(SERVICE, 'Echo', {
      request: PutRequest,
      response: RangeResponse,
      handle: () =>
        new Promise((resolve) => {
          finish = () => resolve({ count: 7 });
          entered?.();
        }),
    }),
  ]);
  const running = call(client, `/${SERVICE}/Echo`, serialize({}));
  await inside;
  const closed = server.close({ graceMs: 10_000 });
  finish?.();
  expect((await running).count).toBe(7);
  client.close();
  await closed;
  await expect(http1(server.port, '/health')).rejects.toThrow('ECONNREFUSED');
});

const hangUp = (server: GrpcServer, bytes: Buffer): Promise<void> =>
  new Promise((resolve) => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write(bytes));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.resume();
  });

test('garbage on the port is closed, and the server keeps serving', async () => {
  const { server, client } = await start();
  await hangUp(
    server,
    Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03, 0x0d, 0x0a]),
  );
  await hangUp(server, Buffer.from('PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n'));
  expect(await echoed(client, 'fine')).toBe('fine');
});
