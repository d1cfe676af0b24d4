import { afterEach, expect, test } from 'vitest';
import { silentLog } from '../../core/base/log.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { seededRandom } from '../../core/base/random.ts';
import * as proto from '../../core/etcd/proto/index.ts';
import { serveClients } from '../../core/etcd/rpc/index.ts';
import { RPC } from '../support/etcd-rpc.ts';
import { connectRpc, type RpcClient } from '../support/grpc-client.ts';
import { openMemoryMember } from '../support/memory-etcd-member.ts';
import { until } from '../support/until.ts';

const lock = { path: '/v3lockpb.Lock/Lock', request: proto.LockRequest, response: proto.LockResponse };
const unlock = {
  path: '/v3lockpb.Lock/Unlock',
  request: proto.UnlockRequest,
  response: proto.UnlockResponse,
};
const election = <Request, Response>(name: string, request: Request, response: Response) => ({
  path: `/v3electionpb.Election/${name}`,
  request,
  response,
});
const campaign = election('Campaign', proto.CampaignRequest, proto.CampaignResponse);
const proclaim = election('Proclaim', proto.ProclaimRequest, proto.ProclaimResponse);
const leader = election('Leader', proto.LeaderRequest, proto.LeaderResponse);
const observe = election('Observe', proto.LeaderRequest, proto.LeaderResponse);
const resign = election('Resign', proto.ResignRequest, proto.ResignResponse);

const name = Buffer.from('job');
const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();
const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const start = async (): Promise<() => RpcClient> => {
  const member = await openMemoryMember();
  opened.push(() => member.close());
  const served = await serveClients({
    member: member.api,
    clock: systemClock,
    random: seededRandom(1),
    log: silentLog,
    listeners: [{ address: { host: '127.0.0.1', port: 0 } }],
  });
  opened.push(() => served.close({ graceMs: 0 }));
  return () => {
    const client = connectRpc(`http://127.0.0.1:${served.servers[0]!.port}`);
    opened.push(() => client.close());
    return client;
  };
};

const keysOf = async (client: RpcClient): Promise<string[]> => {
  const { kvs } = await client.unary(RPC.range, { key: Buffer.from('job/'), rangeEnd: Buffer.from('job0') });
  return kvs.map(({ key }) => text(key));
};
const grant = async (client: RpcClient, ID: bigint): Promise<bigint> =>
  (await client.unary(RPC.leaseGrant, { ID, TTL: 1000 })).ID;

test('a lock has one holder at a time, in the order in which it was asked for', async () => {
  const connect = await start();
  const client = connect();
  const leases: bigint[] = [];
  for (let id = 1n; id <= 8n; id += 1n) leases.push(await grant(client, id));
  const order: bigint[] = [];
  let holders = 0;
  const work = async (lease: bigint): Promise<void> => {
    const { key } = await client.unary(lock, { name, lease });
    expect(text(key)).toBe(`job/${lease.toString(16)}`);
    expect((holders += 1)).toBe(1);
    order.push(lease);
    await client.unary(RPC.range, { key });
    holders -= 1;
    await client.unary(unlock, { key });
  };
  const working: Promise<void>[] = [];
  for (const [index, lease] of leases.entries()) {
    working.push(work(lease));
    // Only its own place in line is waited for, so that the order is known.
    await until('a place in line', async () => order.length + (await keysOf(client)).length > index);
  }
  await Promise.all(working);
  expect(order).toEqual(leases);
  expect(await keysOf(client)).toEqual([]);
});

test('anyone who locks again with the same lease has the lock already', async () => {
  const client = (await start())();
  const lease = await grant(client, 5n);
  const first = await client.unary(lock, { name, lease });
  const second = await client.unary(lock, { name, lease });
  expect(text(second.key)).toBe(text(first.key));
});

test('anyone who stops waiting leaves the line', async () => {
  const connect = await start();
  const [holder, waiting] = [connect(), connect()];
  const [first, second] = [await grant(holder, 1n), await grant(holder, 2n)];
  const { key } = await holder.unary(lock, { name, lease: first });
  const rejected = waiting.unary(lock, { name, lease: second }).catch((error: Error) => error.message);
  await until('both to be in line', async () => (await keysOf(holder)).length === 2);
  waiting.close();
  await rejected;
  await until('the holder to be alone', async () => (await keysOf(holder)).length === 1);
  expect(await keysOf(holder)).toEqual([text(key)]);
});

test('an election: one leads, others wait, and observers are notified', async () => {
  const client = (await start())();
  const [first, second] = [await grant(client, 1n), await grant(client, 2n)];
  const failure = (called: Promise<unknown>): Promise<string> =>
    called.then(
      () => 'none',
      (error: Error) => error.message,
    );
  expect(await failure(client.unary(leader, { name }))).toBe('election: no leader');
  const seen: string[] = [];
  const observing = client.stream(observe, ({ kv }) => seen.push(text(kv?.value)));
  observing.send({ name });
  observing.end();
  const a = await client.unary(campaign, { name, lease: first, value: Buffer.from('a') });
  expect(a.leader).toMatchObject({ lease: first });
  const b = client.unary(campaign, { name, lease: second, value: Buffer.from('b') });
  await until('both to stand', async () => (await keysOf(client)).length === 2);
  expect(text((await client.unary(leader, { name })).kv?.value)).toBe('a');
  await until('the first to be seen', () => seen.length === 1);
  await client.unary(proclaim, { leader: a.leader, value: Buffer.from('a2') });
  await until('its new value to be seen', () => seen.length === 2);
  await client.unary(resign, { leader: a.leader });
  expect((await b).leader).toMatchObject({ lease: second });
  await until('the second to be seen', () => seen.length === 3);
  expect(seen).toEqual(['a', 'a2', 'b']);
  expect(await failure(client.unary(proclaim, { leader: a.leader, value: name }))).toBe(
    'election: not leader',
  );
  expect(await failure(client.unary(proclaim, { value: name }))).toBe('"leader" field must be provided');
  expect(await failure(client.unary(resign, {}))).toBe('"leader" field must be provided');
  observing.close();
});
