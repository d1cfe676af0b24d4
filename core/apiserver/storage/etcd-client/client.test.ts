import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../../base/node/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { seededRandom } from '../../../base/random.ts';
import { RangeResponse, TxnResponse, WatchRequest, WatchResponse } from '../../../etcd/proto/index.ts';
import type { MessageType } from '../../../etcd/proto/wire/field.ts';
import { EtcdClient, type EtcdClientOptions } from './client.ts';
import { encodeMessage } from './grpc-call.ts';
import { METHOD } from './methods.ts';

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0).reverse()) close();
});

type Handle = (stream: ServerHttp2Stream, path: string, call: number) => void;

/** A server by Node's own HTTP/2: what another implementation makes of what we send. */
const serve = async (
  handle: Handle,
  settings: Parameters<typeof createServer>[0] = {},
): Promise<{ url: string; sessions: ServerHttp2Session[]; calls: string[] }> => {
  const server: Http2Server = createServer(settings);
  const sessions: ServerHttp2Session[] = [];
  const calls: string[] = [];
  server.on('session', (session) => sessions.push(session));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    calls.push(`${headers[':path']}`);
    handle(stream, headers[':path']!, calls.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sessions, calls };
};

const open = (...endpoints: string[]): EtcdClient => openWith({ endpoints });
const openWith = (
  options: Partial<EtcdClientOptions> & { readonly endpoints: readonly string[] },
): EtcdClient => {
  const client = new EtcdClient({
    clock: systemClock,
    random: seededRandom(2),
    log: silentLog,
    ...options,
  });
  opened.push(() => client.close());
  return client;
};

const answer = <In>(stream: ServerHttp2Stream, type: MessageType<unknown, In>, value: In): void => {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(encodeMessage(type, value));
};
const refuse = (stream: ServerHttp2Stream, code: number, message: string): void =>
  stream.respond(
    { ':status': 200, 'grpc-status': String(code), 'grpc-message': message },
    { endStream: true },
  );
const key = Buffer.from('k');

test('a read that a member could not answer is asked again elsewhere', async () => {
  const ill = await serve((stream) => refuse(stream, 14, 'etcdserver: no leader'));
  const well = await serve((stream) => answer(stream, RangeResponse, { count: 7 }));
  const client = open(ill.url, well.url);
  const answers = await Promise.all(Array.from({ length: 6 }, () => client.call(METHOD.range, { key })));
  expect(answers.map(({ count }) => count)).toEqual([7, 7, 7, 7, 7, 7]);
});

test('a write whose answer is lost is not sent again', async () => {
  const { url, calls } = await serve((stream) => stream.on('data', () => stream.session!.destroy()));
  await expect(open(url).call(METHOD.txn, {})).rejects.toMatchObject({
    reason: 'Unavailable',
    untouched: false,
  });
  expect(calls).toEqual(['/etcdserverpb.KV/Txn']);
});

test('a write that the server refused to look at is sent again', async () => {
  const REFUSED_STREAM = 7;
  const { url, calls } = await serve((stream, _path, call) => {
    if (call === 1) stream.close(REFUSED_STREAM);
    else answer(stream, TxnResponse, { succeeded: true });
  });
  expect([(await open(url).call(METHOD.txn, {})).succeeded, calls.length]).toEqual([true, 2]);
});

test('a member that is silent is given up by its pings, and its reads are asked elsewhere', async () => {
  const silent = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    opened.push(() => socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  opened.push(() => silent.close());
  const well = await serve((stream) => answer(stream, RangeResponse, { count: 7 }));
  const client = openWith({
    endpoints: [`http://127.0.0.1:${(silent.address() as AddressInfo).port}`, well.url],
    keepaliveIntervalMs: 20,
    keepaliveTimeoutMs: 20,
  });
  const answers = await Promise.all(Array.from({ length: 4 }, () => client.call(METHOD.range, { key })));
  expect(answers.map(({ count }) => count)).toEqual([7, 7, 7, 7]);
});

test('without any member a call says which ones were tried and why they failed', async () => {
  const client = open('http://127.0.0.1:1');
  await expect(client.call(METHOD.txn, {}, { timeoutMs: 100 })).rejects.toMatchObject({
    reason: 'Unavailable',
    untouched: true,
    message: expect.stringMatching(
      /^no etcd endpoint is reachable \(http:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/,
    ),
  });
});

test('texts of failures arrive with what was escaped in them', async () => {
  const { url } = await serve((stream) => refuse(stream, 3, 'etcdserver: %C3%A4 100%25'));
  await expect(open(url).call(METHOD.txn, {})).rejects.toMatchObject({
    reason: 'InvalidRequest',
    message: 'etcdserver: ä 100%',
  });
});

test('more calls than the server allows at the same time wait for their turn', async () => {
  let running = 0;
  let most = 0;
  const { url } = await serve(
    (stream) => {
      most = Math.max(most, (running += 1));
      setImmediate(() => {
        running -= 1;
        answer(stream, RangeResponse, { count: 1 });
      });
    },
    { settings: { maxConcurrentStreams: 3 } },
  );
  const client = open(url);
  await client.call(METHOD.range, { key });
  const answers = await Promise.all(Array.from({ length: 30 }, () => client.call(METHOD.range, { key })));
  expect([answers.length, most]).toEqual([30, 3]);
});

test('a server that goes away finishes what runs, and the next call takes a new connection', async () => {
  const { url, sessions } = await serve((stream, _path, call) => {
    if (call === 1) stream.session!.goaway(0, stream.id);
    setImmediate(() => answer(stream, RangeResponse, { count: call }));
  });
  const client = open(url);
  const counts = [
    (await client.call(METHOD.range, { key })).count,
    (await client.call(METHOD.range, { key })).count,
  ];
  expect([counts, sessions.length]).toEqual([[1, 2], 2]);
});

test('answers of many megabytes pass all windows', async () => {
  const value = Buffer.alloc(24 * 1024 * 1024, 'v');
  const { url } = await serve((stream) => answer(stream, RangeResponse, { kvs: [{ key, value }] }));
  const { kvs } = await open(url).call(METHOD.range, { key });
  expect(Buffer.compare(kvs[0]!.value, value)).toBe(0);
});

const event = (revision: number) => ({ kv: { key, modRevision: revision, createRevision: 1 } });
const requestsOf = (stream: ServerHttp2Stream, onRequest: (request: WatchRequest) => void): void => {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
  let rest = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const end = 5 + rest.readUInt32BE(1);
      onRequest(WatchRequest.decode(rest.subarray(5, end)));
      rest = rest.subarray(end);
    }
  });
};

test('a stream lost in the middle of a fragmented answer is resumed after the last whole one', async () => {
  const starts: number[] = [];
  const { url } = await serve((stream) => {
    requestsOf(stream, ({ createRequest }) => {
      const { watchId, startRevision } = createRequest!;
      starts.push(startRevision);
      const say = (value: Parameters<typeof WatchResponse.encode>[0]): void =>
        void stream.write(encodeMessage(WatchResponse, { watchId, ...value }));
      say({ created: true, header: { revision: 20 } });
      if (starts.length === 1) {
        say({ events: [event(5)], fragment: true });
        say({ events: [event(5), event(6)] });
        say({ events: [event(7)], fragment: true });
        setImmediate(() => stream.close(2));
      } else say({ events: [event(7), event(7)] });
    });
  });
  const told: number[][] = [];
  await new Promise<void>((resolve) => {
    open(url).watch(
      { key, rangeEnd: Buffer.alloc(0), startRevision: 5, prevKv: false },
      {
        onEvents: (events, revision) => {
          told.push(events.map(({ kv }) => kv!.modRevision));
          if (revision === 7) resolve();
        },
        onEnd: () => undefined,
      },
    );
  });
  expect([starts, told]).toEqual([
    [5, 7],
    [
      [5, 5, 6],
      [7, 7],
    ],
  ]);
});

test('progress for all speaks only to watches that the server has confirmed, and a refusal ends the right one', async () => {
  const { url } = await serve((stream) => {
    let created = 0;
    const say = (value: Parameters<typeof WatchResponse.encode>[0]): void =>
      void stream.write(encodeMessage(WatchResponse, value));
    requestsOf(stream, ({ createRequest }) => {
      created += 1;
      if (created === 1) say({ watchId: createRequest!.watchId, created: true, header: { revision: 9 } });
      if (created !== 2) return;
      say({ watchId: -1n, header: { revision: 9 } });
      say({ watchId: -1n, created: true, canceled: true, cancelReason: 'rpc error: permission denied' });
    });
  });
  const client = open(url);
  const told: string[] = [];
  await new Promise<void>((resolve) => {
    for (const name of ['first', 'second'])
      client.watch(
        { key, rangeEnd: Buffer.alloc(0), startRevision: 3, prevKv: false },
        {
          onEvents: () => undefined,
          onProgress: (revision) => told.push(`${name} is at ${revision}`),
          onEnd: (error) => {
            told.push(`${name} ended: ${error.message}`);
            resolve();
          },
        },
      );
  });
  expect(told).toEqual(['first is at 9', 'second ended: rpc error: permission denied']);
});

test('callers that ask for progress while a request is in progress share the next one', async () => {
  let asked = 0;
  const { url } = await serve((stream) => {
    const say = (value: Parameters<typeof WatchResponse.encode>[0]): void =>
      void stream.write(encodeMessage(WatchResponse, value));
    const progressAt = (revision: number): void => say({ watchId: -1n, header: { revision } });
    requestsOf(stream, ({ createRequest, progressRequest }) => {
      if (createRequest) {
        say({ watchId: createRequest.watchId, created: true, header: { revision: 9 } });
        progressAt(9);
      }
      if (progressRequest) progressAt(9 + (asked += 1));
    });
  });
  const client = open(url);
  const told: number[] = [];
  await new Promise<void>((resolve) => {
    client.watch(
      { key, rangeEnd: Buffer.alloc(0), startRevision: 3, prevKv: false },
      {
        onEvents: () => undefined,
        onProgress(revision) {
          told.push(revision);
          if (revision === 9) for (let caller = 0; caller < 64; caller += 1) client.requestProgress();
          if (revision === 11) resolve();
        },
        onEnd: () => undefined,
      },
    );
  });
  expect([told, asked]).toEqual([[9, 10, 11], 2]);
});
