import { createHash } from 'node:crypto';
import * as grpc from '@grpc/grpc-js';
import { afterEach, expect, test } from 'vitest';
import { silentLog } from '../../core/base/log.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { seededRandom } from '../../core/base/random.ts';
import * as proto from '../../core/etcd/proto/index.ts';
import type { MessageType } from '../../core/etcd/proto/wire/index.ts';
import { serveClients } from '../../core/etcd/rpc/index.ts';
import type { ClientServerOptions } from '../../core/etcd/rpc/index.ts';
import { SNAPSHOT_BYTES, openMemoryMember } from '../support/memory-etcd-member.ts';

const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const start = async (options: Partial<ClientServerOptions> = {}) => {
  const member = await openMemoryMember();
  opened.push(() => member.close());
  const served = await serveClients({
    member: member.api,
    clock: systemClock,
    random: seededRandom(1),
    log: silentLog,
    listeners: [{ address: { host: '127.0.0.1', port: 0 } }],
    ...options,
  });
  opened.push(() => served.close({ graceMs: 0 }));
  const client = new grpc.Client(`127.0.0.1:${served.servers[0]!.port}`, grpc.credentials.createInsecure(), {
    'grpc.max_receive_message_length': -1,
  });
  opened.push(() => client.close());
  return { ...member, client, served };
};

const bytes = (text: string): Buffer => Buffer.from(text);
const text = (value: Uint8Array): string => Buffer.from(value).toString();

interface Rpc<In, Out> {
  readonly path: string;
  readonly request: MessageType<unknown, In>;
  readonly response: MessageType<Out, never>;
}
const rpc = <In, Out>(
  path: string,
  request: MessageType<unknown, In>,
  response: MessageType<Out, never>,
): Rpc<In, Out> => ({ path: `/etcdserverpb.${path}`, request, response });
const RANGE = rpc('KV/Range', proto.RangeRequest, proto.RangeResponse);
const PUT = rpc('KV/Put', proto.PutRequest, proto.PutResponse);
const TXN = rpc('KV/Txn', proto.TxnRequest, proto.TxnResponse);
const COMPACT = rpc('KV/Compact', proto.CompactionRequest, proto.CompactionResponse);
const LEASE_TTL = rpc('Lease/LeaseTimeToLive', proto.LeaseTimeToLiveRequest, proto.LeaseTimeToLiveResponse);
const LEASE_GRANT = rpc('Lease/LeaseGrant', proto.LeaseGrantRequest, proto.LeaseGrantResponse);
const STATUS = rpc('Maintenance/Status', proto.StatusRequest, proto.StatusResponse);
const MEMBER_ADD = rpc('Cluster/MemberAdd', proto.MemberAddRequest, proto.MemberAddResponse);

const call = <In, Out>(
  client: grpc.Client,
  { path, request, response }: Rpc<In, Out>,
  message: In,
  headers: Record<string, string> = {},
): Promise<Out> =>
  new Promise((resolve, reject) => {
    const metadata = new grpc.Metadata();
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
    client.makeUnaryRequest(
      path,
      (value: In) => request.encode(value),
      (value: Buffer) => response.decode(value),
      message,
      metadata,
      (error, value) => (error === null ? resolve(value!) : reject(error)),
    );
  });
const failure = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no failure',
    (error: grpc.ServiceError) => `${grpc.status[error.code]} ${error.details}`,
  );

/** A bidirectional stream read one response at a time. */
const converse = <In, Out>(client: grpc.Client, { path, request, response }: Rpc<In, Out>, headers = {}) => {
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, String(value));
  const stream = client.makeBidiStreamRequest(
    path,
    (value: In) => request.encode(value),
    (value: Buffer) => response.decode(value),
    metadata,
  );
  const iterator = (stream as AsyncIterable<Out>)[Symbol.asyncIterator]();
  stream.on('error', () => undefined);
  return {
    stream,
    send: (message: In) => stream.write(message),
    async next(): Promise<Out> {
      const { value, done } = await iterator.next();
      if (done === true) throw new Error('the stream ended');
      return value as Out;
    },
  };
};
const WATCH = rpc('Watch/Watch', proto.WatchRequest, proto.WatchResponse);
const KEEP_ALIVE = rpc('Lease/LeaseKeepAlive', proto.LeaseKeepAliveRequest, proto.LeaseKeepAliveResponse);

const describeEvents = (response: proto.WatchResponse): string[] =>
  response.events.map(
    ({ type, kv, prevKv }) =>
      `${type === proto.EVENT_TYPE.PUT ? 'put' : 'delete'} ${text(kv!.key)}=${text(kv!.value)}@${kv!.modRevision}` +
      (prevKv === undefined ? '' : ` was ${text(prevKv.value)}`),
  );

test('put, range and txn answer with a full header', async () => {
  const { client } = await start();
  const put = await call(client, PUT, { key: bytes('a'), value: bytes('1') });
  expect(put.header).toEqual({
    clusterId: 0xcdf818194e3a8c32n,
    memberId: 0x8e9e05c52164694dn,
    revision: 2,
    raftTerm: 2,
  });
  const range = await call(client, RANGE, { key: bytes('a') });
  expect([range.count, text(range.kvs[0]!.value), range.header?.revision]).toEqual([1, '1', 2]);
  const txn = await call(client, TXN, {
    compare: [{ key: bytes('a'), target: proto.COMPARE_TARGET.MOD, modRevision: 2 }],
    success: [{ requestPut: { key: bytes('a'), value: bytes('2') } }, { requestRange: { key: bytes('a') } }],
  });
  expect([txn.succeeded, text(txn.responses[1]!.responseRange!.kvs[0]!.value)]).toEqual([true, '2']);
});

test('requests that make no sense are refused in the words of etcd', async () => {
  const { client } = await start();
  const key = bytes('k');
  const put = { requestPut: { key } };
  const nested = (levels: number): proto.TxnRequestIn =>
    levels === 0 ? { success: [put] } : { success: [{ requestTxn: nested(levels - 1) }] };
  await call(client, PUT, { key });
  await call(client, PUT, { key });
  await call(client, COMPACT, { revision: 3 });
  const refusals = [
    call(client, RANGE, {}),
    call(client, RANGE, { key, sortOrder: 9 }),
    call(client, RANGE, { key, revision: 1 }),
    call(client, RANGE, { key, revision: 99 }),
    call(client, PUT, { key, ignoreValue: true, value: bytes('v') }),
    call(client, PUT, { key, ignoreLease: true, lease: 4n }),
    call(client, TXN, { success: [put, put] }),
    call(client, TXN, { success: [put, { requestDeleteRange: { key: bytes('a'), rangeEnd: bytes('z') } }] }),
    call(client, TXN, { success: [{ requestTxn: { failure: [put] } }, put] }),
    call(client, TXN, { success: [{}] }),
    call(client, TXN, { success: Array.from({ length: 129 }, () => ({ requestRange: { key } })) }),
    call(client, TXN, nested(130)),
    call(client, LEASE_GRANT, { ID: 0n, TTL: 5 }).then(({ ID }) => call(client, LEASE_GRANT, { ID, TTL: 5 })),
    call(client, MEMBER_ADD, { peerURLs: ['localhost:2380'] }),
  ];
  expect(await Promise.all(refusals.map(failure))).toEqual([
    'INVALID_ARGUMENT etcdserver: key is not provided',
    'INVALID_ARGUMENT etcdserver: invalid sort option',
    'OUT_OF_RANGE etcdserver: mvcc: required revision has been compacted',
    'OUT_OF_RANGE etcdserver: mvcc: required revision is a future revision',
    'INVALID_ARGUMENT etcdserver: value is provided',
    'INVALID_ARGUMENT etcdserver: lease is provided',
    'INVALID_ARGUMENT etcdserver: duplicate key given in txn request',
    'INVALID_ARGUMENT etcdserver: duplicate key given in txn request',
    'INVALID_ARGUMENT etcdserver: duplicate key given in txn request',
    'INVALID_ARGUMENT etcdserver: key not found',
    'INVALID_ARGUMENT etcdserver: too many operations in txn request',
    'INVALID_ARGUMENT etcdserver: too many operations in txn request',
    'FAILED_PRECONDITION etcdserver: lease already exists',
    'INVALID_ARGUMENT etcdserver: given member URLs are invalid',
  ]);
});

test('many watches share a stream: ids, filters, previous values, history and cancel', async () => {
  const { client, store } = await start();
  store.put({ key: bytes('a'), value: bytes('0') });
  const { send, next, stream } = converse(client, WATCH);
  send({ createRequest: { key: bytes('a'), prevKv: true } });
  expect(await next()).toMatchObject({
    watchId: 0n,
    created: true,
    canceled: false,
    header: { revision: 2 },
  });
  send({ createRequest: { key: bytes('a'), rangeEnd: bytes('c'), watchId: 77n, filters: [0] } });
  expect(await next()).toMatchObject({ watchId: 77n, created: true });
  send({ createRequest: { key: bytes('x'), watchId: 77n } });
  expect(await next()).toMatchObject({
    watchId: -1n,
    created: true,
    canceled: true,
    cancelReason: 'mvcc: duplicate watch ID provided on the WatchStream',
  });
  send({ createRequest: { startRevision: 2, rangeEnd: Buffer.from([0]) } });
  expect(await next()).toMatchObject({ watchId: 1n, created: true });
  expect(describeEvents(await next())).toEqual(['put a=0@2']);

  store.txn({
    compare: [],
    success: [
      { type: 'put', request: { key: bytes('a'), value: bytes('1') } },
      { type: 'put', request: { key: bytes('b'), value: bytes('2') } },
    ],
    failure: [],
  });
  store.deleteRange({ key: bytes('a') });
  const seen = new Map<bigint, string[]>();
  for (let responses = 0; responses < 5; responses += 1) {
    const response = await next();
    seen.set(response.watchId, [...(seen.get(response.watchId) ?? []), describeEvents(response).join(', ')]);
  }
  expect(Object.fromEntries([...seen].map(([id, events]) => [String(id), events]))).toEqual({
    0: ['put a=1@3 was 0', 'delete a=@4 was 1'],
    1: ['put a=1@3, put b=2@3', 'delete a=@4'],
    77: ['delete a=@4'],
  });

  send({ progressRequest: {} });
  expect(await next()).toMatchObject({ watchId: -1n, header: { revision: 4 }, events: [] });
  send({ cancelRequest: { watchId: 12345n } });
  send({ cancelRequest: { watchId: 77n } });
  expect(await next()).toMatchObject({ watchId: 77n, canceled: true, created: false });
  stream.cancel();
});

test('a watch of compacted history is cancelled with the revision it may start from', async () => {
  const { client, store } = await start();
  for (const value of ['1', '2', '3']) store.put({ key: bytes('a'), value: bytes(value) });
  await store.compact(3).done;
  const { send, next, stream } = converse(client, WATCH);
  send({ createRequest: { key: bytes('a'), startRevision: 2 } });
  expect(await next()).toMatchObject({ watchId: 0n, created: true });
  expect(await next()).toMatchObject({
    watchId: 0n,
    canceled: true,
    compactRevision: 3,
    header: { revision: 0 },
  });
  stream.cancel();
});

test('a large revision arrives in fragments only where the watcher allows it', async () => {
  const { client, store } = await start({ requestBytesMax: 1024 });
  const { send, next, stream } = converse(client, WATCH);
  send({ createRequest: { key: bytes('k'), rangeEnd: bytes('l'), fragment: true } });
  await next();
  const value = Buffer.alloc(200 * 1024);
  store.txn({
    compare: [],
    success: [1, 2, 3, 4, 5].map((n) => ({ type: 'put', request: { key: bytes(`k${n}`), value } })),
    failure: [],
  });
  const pieces = [await next(), await next(), await next()];
  expect(pieces.map(({ fragment, events }) => [fragment, events.length])).toEqual([
    [true, 2],
    [true, 2],
    [false, 1],
  ]);
  stream.cancel();
});

test('an idle watcher with progress notifications gets its revision', async () => {
  const { client, store } = await start({ progressIntervalMs: 100 });
  store.put({ key: bytes('other'), value: bytes('1') });
  const { send, next, stream } = converse(client, WATCH);
  send({ createRequest: { key: bytes('a'), progressNotify: true } });
  await next();
  expect(await next()).toMatchObject({ watchId: 0n, header: { revision: 2 }, events: [], created: false });
  stream.cancel();
});

test('a watcher that does not read holds back only itself, and misses nothing', async () => {
  const { client, store } = await start();
  const slow = converse(client, WATCH);
  slow.send({ createRequest: { key: bytes('k') } });
  await slow.next();
  const value = Buffer.alloc(64 * 1024);
  const writes = 200;
  for (let index = 0; index < writes; index += 1) {
    store.put({ key: bytes('k'), value });
    await new Promise((resolve) => setImmediate(resolve));
  }
  await call(client, PUT, { key: bytes('other'), value: bytes('served meanwhile') });
  const revisions: number[] = [];
  while (revisions.length < writes)
    for (const { kv } of (await slow.next()).events) revisions.push(kv!.modRevision);
  expect(revisions).toEqual(Array.from({ length: writes }, (_, index) => index + 2));
  slow.stream.cancel();
});

test('leases are kept alive on one stream, and a lost one has no time left', async () => {
  const { client } = await start();
  const { ID } = await call(client, LEASE_GRANT, { TTL: 60 });
  const { send, next, stream } = converse(client, KEEP_ALIVE);
  send({ ID });
  send({ ID: 9n });
  expect([await next(), await next()]).toMatchObject([
    { ID, TTL: 60 },
    { ID: 9n, TTL: 0 },
  ]);
  stream.end();
  expect(await call(client, LEASE_TTL, { ID: 9n })).toMatchObject({ ID: 9n, TTL: -1, grantedTTL: 0 });
});

test('a snapshot is its bytes followed by their checksum', async () => {
  const { client } = await start();
  const stream = client.makeServerStreamRequest(
    '/etcdserverpb.Maintenance/Snapshot',
    (value: Buffer) => value,
    (value: Buffer) => proto.SnapshotResponse.decode(value),
    Buffer.alloc(0),
  );
  const blobs: Buffer[] = [];
  const remaining: number[] = [];
  for await (const response of stream as AsyncIterable<proto.SnapshotResponse>) {
    blobs.push(Buffer.from(response.blob));
    remaining.push(response.remainingBytes);
  }
  const checksum = blobs.pop()!;
  const file = Buffer.concat(blobs);
  expect([file.length, remaining.at(0)! < SNAPSHOT_BYTES, remaining.at(-1)]).toEqual([
    SNAPSHOT_BYTES,
    true,
    0,
  ]);
  expect(checksum.toString('hex')).toBe(createHash('sha256').update(file).digest('hex'));
});

test('without a leader, calls and streams that insist on one are refused or ended', async () => {
  const { client, cluster } = await start({ electionTimeoutMs: 20 });
  const insist = { hasleader: 'true' };
  const { send, next } = converse(client, WATCH, insist);
  send({ createRequest: { key: bytes('a') } });
  await next();
  cluster.leaderId = 0n;
  expect(await failure(next())).toBe('UNAVAILABLE etcdserver: no leader');
  expect(await failure(call(client, PUT, { key: bytes('a') }, insist))).toBe(
    'UNAVAILABLE etcdserver: no leader',
  );
  expect((await call(client, STATUS, {})).errors).toEqual(['etcdserver: no leader']);
});

test('a member that stops tells its streams so, and does not wait for them', async () => {
  const { client, served } = await start();
  const { ID } = await call(client, LEASE_GRANT, { TTL: 60 });
  const [watch, lease] = [converse(client, WATCH), converse(client, KEEP_ALIVE)];
  watch.send({ createRequest: { key: bytes('a') } });
  lease.send({ ID });
  await Promise.all([watch.next(), lease.next()]);
  const closed = served.close({ graceMs: 3_600_000 });
  expect(await Promise.all([failure(watch.next()), failure(lease.next())])).toEqual([
    'UNAVAILABLE etcdserver: server stopped',
    'UNAVAILABLE etcdserver: server stopped',
  ]);
  await closed;
});

test('a learner serves status and serializable reads, and nothing else', async () => {
  const { client, cluster } = await start();
  cluster.isLearner = true;
  const key = bytes('a');
  expect([
    (await call(client, STATUS, {})).isLearner,
    (await call(client, RANGE, { key, serializable: true })).count,
    await failure(call(client, RANGE, { key })),
  ]).toEqual([true, 0, 'FAILED_PRECONDITION etcdserver: rpc not supported for learner']);
});

test('health is served', async () => {
  const { client } = await start();
  const health = {
    path: '/grpc.health.v1.Health/Check',
    request: proto.HealthCheckRequest,
    response: proto.HealthCheckResponse,
  };
  expect((await call(client, health, {})).status).toBe(proto.SERVING_STATUS.SERVING);
});
