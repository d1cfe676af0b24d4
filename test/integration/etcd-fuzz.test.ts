import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect as connectHttp2, constants, type ClientHttp2Session } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, type SecureContextOptions } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../core/base/random.ts';
import { makeCertificates } from '../support/etcd-certificates.ts';
import type { ClusterCertificates } from '../support/etcd-cluster.ts';
import {
  grpcFrame,
  http2Session,
  isHarmful,
  mayHarm,
  mutated,
  mutatedMessage,
  PREFACE,
  randomBytes,
  randomFrame,
  SAMPLES,
  type Sample,
} from '../support/etcd-fuzz.ts';
import { startCommand, type CommandProcess } from '../support/etcd-process.ts';
import { RPC } from '../support/etcd-rpc.ts';
import { connectRpc, RpcError, type RpcClient } from '../support/grpc-client.ts';
import { sendHostile } from '../support/hostile-traffic.ts';
import { until } from '../support/until.ts';

const OCTET = 70;
const HOST = `127.${OCTET}.0.1`;
const [SECURE_PORT, PEER_PORT, PLAIN_PORT] = [2379, 2380, 2381];
/** The first three are of the client listener: together ten thousand that were read. */
const INPUTS = { plainConnections: 2800, secureConnections: 300, messages: 7600, peerConnections: 300 };
const READ_MIN = 10_000;
const AT_ONCE = 32;
/** A watch is given up after this long. */
const LINGER_MS = 100;
const CALL_LIMIT_MS = 60_000;
const GROWTH_BYTES_MAX = 256 * 1024 * 1024;
const CANARIES = 100;
const START_LIMIT_MS = 100_000;
const OPEN_FILES_MAX = 60;

/** Fixed, so that a run tells about the change at hand; another one looks elsewhere. */
const seed = Number(process.env['PILOTHOUSE_SEED'] ?? 1);
const random = seededRandom(seed);
const directory = mkdtempSync(join(tmpdir(), 'pilothouse-fuzz-'));
const kept = Buffer.from('kept/');
let certificates: ClusterCertificates;
let member: CommandProcess;
let memoryBefore = 0;
const closers: (() => void)[] = [];

/** A client as they should be, at work all the time: whatever others send, it is served. */
class Customer {
  slowestMs = 0;
  count = 0;
  failure: unknown;
  #stopped = false;
  readonly #running: Promise<void>;

  constructor(name: string, client: RpcClient) {
    this.#running = this.#run(name, client).catch((error: unknown) => void (this.failure = error));
  }

  async #run(name: string, client: RpcClient): Promise<void> {
    while (!this.#stopped) {
      const [key, value] = [Buffer.from(`kept/${name}`), Buffer.from(String((this.count += 1)))];
      const since = Date.now();
      await client.unary(RPC.put, { key, value });
      const { kvs } = await client.unary(RPC.range, { key });
      expect(Buffer.from(kvs[0]!.value)).toEqual(value);
      this.slowestMs = Math.max(this.slowestMs, Date.now() - since);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }
}
const customers: Customer[] = [];

const rssBytes = (): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${member.child.pid}/status`, 'utf8'))![1]) * 1024;
const openFiles = (): number => readdirSync(`/proc/${member.child.pid}/fd`).length;

beforeAll(async () => {
  certificates = makeCertificates(join(directory, 'pki'), OCTET);
  const clientUrls = `https://${HOST}:${SECURE_PORT},http://${HOST}:${PLAIN_PORT}`;
  member = startCommand(
    ...['component', 'etcd', '--log-level=error', `--data-dir=${join(directory, 'data')}`],
    ...[`--listen-client-urls=${clientUrls}`, `--advertise-client-urls=${clientUrls}`],
    `--listen-peer-urls=https://${HOST}:${PEER_PORT}`,
    `--initial-advertise-peer-urls=https://${HOST}:${PEER_PORT}`,
    ...[`--cert-file=${certificates.serverCertFile}`, `--key-file=${certificates.serverKeyFile}`],
    ...[`--trusted-ca-file=${certificates.caFile}`, '--client-cert-auth'],
    ...[`--peer-cert-file=${certificates.peerCertFile}`, `--peer-key-file=${certificates.peerKeyFile}`],
    ...[`--peer-trusted-ca-file=${certificates.caFile}`, '--peer-client-cert-auth'],
  );
  const plain = await connected(`http://${HOST}:${PLAIN_PORT}`);
  const secure = await connected(`https://${HOST}:${SECURE_PORT}`, certificates.client);
  for (let n = 0; n < CANARIES; n += 1)
    await plain.unary(RPC.put, { key: Buffer.from(`kept/canary-${n}`), value: Buffer.from(`alive ${n}`) });
  customers.push(new Customer('plain', plain), new Customer('secure', secure));
  memoryBefore = rssBytes();
});

const connected = async (url: string, tls: SecureContextOptions = {}): Promise<RpcClient> => {
  for (const deadline = Date.now() + START_LIMIT_MS; ;) {
    const client = connectRpc(url, tls);
    try {
      await client.ready();
      closers.push(() => client.close());
      return client;
    } catch (error) {
      client.close();
      if (Date.now() > deadline)
        throw new Error(`the member does not serve: ${member.stderr}`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
};

afterEach(() => {
  expect(member.child.exitCode, `seed ${seed}: ${member.stderr}`).toBeNull();
  expect(customers.map(({ failure }) => failure)).toEqual([undefined, undefined]);
});

afterAll(async () => {
  for (const close of closers) close();
  await member.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

/** Runs one job after the other on a few lanes. */
const inLanes = async (count: number, job: (n: number) => Promise<void>): Promise<void> => {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) await job((next += 1));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
};

const connectedSocket = (socket: Socket, event: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    socket.once(event, () => resolve(socket.off('error', reject)));
    socket.once('error', reject);
  });
const plainSocket = (port = PLAIN_PORT): Promise<Socket> =>
  connectedSocket(connectTcp(port, HOST), 'connect');
const secureSocket = (port: number, protocol?: string): Promise<Socket> =>
  connectedSocket(
    connectTls({ host: HOST, port, ...certificates.client, ...(protocol && { ALPNProtocols: [protocol] }) }),
    'secureConnect',
  );

/** What the client listener has read and answered, or read until it hung up. */
let readByClientListener = 0;

/** Each on a connection of its own, which the member closes once it has read the input and its end. */
const throwAll = async (
  inputs: number,
  open: () => Promise<Socket>,
  bytes: () => Buffer,
): Promise<number> => {
  const input = () => ({ bytes: bytes(), isLast: true });
  const { answered, hungUp } = await sendHostile({ inputs, connections: AT_ONCE, open, input });
  expect(answered + hungUp).toBe(inputs);
  return inputs;
};

const anySample = (): Sample => {
  for (;;) {
    const found = SAMPLES[random.below(SAMPLES.length)]!;
    if (random.next() < (found.weight ?? 1)) return found;
  }
};

/** Nothing of HTTP/2, frames at random, or a session that is nearly right. */
const anyBytes = (): Buffer => {
  const kind = random.below(4);
  if (kind === 0) return randomBytes(random, 1 + random.below(300));
  if (kind === 1)
    return Buffer.concat([
      PREFACE,
      ...Array.from({ length: 1 + random.below(6) }, () => randomFrame(random)),
    ]);
  // Range and Put alone: nothing checks here whether a mutation would delete what is kept.
  const { path, message } = SAMPLES[random.below(2)]!;
  const session = http2Session(path, message);
  // The preface stays in one half of them, so that what follows is looked at.
  if (kind === 2) return mutated(session, random);
  return Buffer.concat([PREFACE, mutated(session.subarray(PREFACE.length), random)]);
};

test(`${INPUTS.plainConnections} connections of random bytes and mutated frames in plain text (PILOTHOUSE_SEED=${seed})`, async () => {
  readByClientListener += await throwAll(INPUTS.plainConnections, plainSocket, anyBytes);
});

test(`${INPUTS.secureConnections} of the same behind TLS`, async () => {
  const open = (): Promise<Socket> => secureSocket(SECURE_PORT, 'h2');
  readByClientListener += await throwAll(INPUTS.secureConnections, open, anyBytes);
});

test(`${INPUTS.peerConnections} at the port for peers, before and after the handshake`, async () => {
  const bytes = (): Buffer =>
    random.below(2) === 0 ? randomBytes(random, 1 + random.below(400)) : anyBytes();
  await throwAll(INPUTS.peerConnections / 3, () => plainSocket(PEER_PORT), bytes);
  await throwAll((INPUTS.peerConnections * 2) / 3, () => secureSocket(PEER_PORT), bytes);
});

test(`${INPUTS.messages} mutated messages to all methods`, async () => {
  const sessions: ClientHttp2Session[] = [
    connectHttp2(`http://${HOST}:${PLAIN_PORT}`),
    connectHttp2(`https://${HOST}:${SECURE_PORT}`, certificates.client),
  ];
  const statuses = new Map<string, number>();
  const unanswered = new Set<string>();
  const call = ({ path }: Sample, body: Buffer, session: ClientHttp2Session): Promise<void> =>
    new Promise((resolve, reject) => {
      const stream = session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      // A watch stays open when its client has said all, with etcd too.
      const limitMs = path.endsWith('/Watch') ? LINGER_MS : CALL_LIMIT_MS;
      const limit = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), limitMs);
      let status = 'none';
      const note = (headers: Record<string, unknown>): void => {
        status = String(headers['grpc-status'] ?? status);
      };
      stream.on('response', note);
      stream.on('trailers', note);
      stream.on('error', (error) => (session.destroyed ? reject(error) : undefined));
      stream.on('data', () => undefined);
      stream.once('close', () => {
        clearTimeout(limit);
        if (status === 'none') unanswered.add(path);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        resolve();
      });
      stream.end(body);
    });
  try {
    await inLanes(INPUTS.messages, (n) => {
      const { path, message } = anySample();
      let sent: Sample = { path, message: mutatedMessage(message, random) };
      while (isHarmful(sent, Buffer.from('kept/canary-1')) || isHarmful(sent, kept))
        sent = { path, message: mutatedMessage(message, random) };
      const framed = grpcFrame(sent.message);
      // One in eight is broken in its frame rather than in what it carries.
      const body = n % 8 === 0 && !mayHarm(path) ? mutated(framed, random) : framed;
      return call(sent, body, sessions[n % 2]!);
    });
    console.log(`seed ${seed}: answers by code`, Object.fromEntries(statuses));
    // Well-behaved connections carried all this: it is the messages that were bad, and each got an answer.
    expect(sessions.map((session) => session.destroyed)).toEqual([false, false]);
    expect([...unanswered]).toEqual(['/etcdserverpb.Watch/Watch']);
    expect(statuses.get('13') ?? 0).toBeGreaterThan(0);
    expect(statuses.get('0') ?? 0).toBeGreaterThan(0);
    readByClientListener += INPUTS.messages - (statuses.get('none') ?? 0);
    expect(readByClientListener).toBeGreaterThan(READ_MIN);
  } finally {
    for (const session of sessions) session.destroy();
  }
});

test('requests that are too large are refused in the words of etcd', async () => {
  const client = await connected(`https://${HOST}:${SECURE_PORT}`, certificates.client);
  const put = (bytes: number): Promise<unknown> =>
    client
      .unary(RPC.put, { key: Buffer.from('fuzz/large'), value: Buffer.alloc(bytes) })
      .catch((error: unknown) => (error instanceof RpcError ? [error.code, error.message] : error));
  expect(await put(1_572_864)).toEqual([3, 'etcdserver: request is too large']);
  expect(await put(2 * 1024 * 1024 + 100)).toEqual([
    8,
    expect.stringMatching(/^grpc: received message larger than max \(\d+ vs\. 2097152\)$/),
  ]);
  expect(await put(1_000_000)).toMatchObject({ header: {} });
});

test('clients that speak the wrong protocol or show the wrong papers are sent away', async () => {
  const stranger = makeCertificates(join(directory, 'strangers'), OCTET).client;
  const ca = certificates.client.ca;
  const refused = (url: string, tls: SecureContextOptions = {}): Promise<boolean> => {
    const client = connectRpc(url, tls);
    const called = client.ready().then(() => client.unary(RPC.range, { key: kept }));
    const late = new Promise<void>((resolve) => setTimeout(resolve, CALL_LIMIT_MS).unref());
    return Promise.race([called, late])
      .then(
        () => false,
        () => true,
      )
      .finally(() => client.close());
  };
  const secureUrl = `https://${HOST}:${SECURE_PORT}`;
  expect(
    await Promise.all([
      refused(secureUrl, { ...certificates.client, cert: stranger.cert!, key: stranger.key! }),
      refused(secureUrl, { ca: ca! }),
      refused(`http://${HOST}:${SECURE_PORT}`),
      refused(`https://${HOST}:${PLAIN_PORT}`, certificates.client),
      refused(`https://${HOST}:${PEER_PORT}`, certificates.client),
      refused(`http://${HOST}:${PEER_PORT}`),
    ]),
  ).toEqual([true, true, true, true, true, true]);
});

test('clients that trickle bytes hold up no one', async () => {
  const session = http2Session(SAMPLES[0]!.path, SAMPLES[0]!.message);
  const sockets = await Promise.all(
    Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? plainSocket() : secureSocket(SECURE_PORT, 'h2'))),
  );
  for (const socket of sockets) socket.on('error', () => undefined).on('data', () => undefined);
  const countBefore = customers.map(({ count }) => count);
  for (let at = 0; at < session.length; at += 1) {
    for (const [n, socket] of sockets.entries())
      if (!socket.destroyed && at < session.length - n) socket.write(session.subarray(at, at + 1));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  // Nearly all of them are still there, with something left to say.
  await until('others to be served', () => customers.every(({ count }, n) => count > countBefore[n]! + 10));
  for (const socket of sockets) socket.destroy();
});

test('after all that everything is there, and what the bad clients cost is given back', async () => {
  await Promise.all(customers.map((customer) => customer.stop()));
  const client = await connected(`https://${HOST}:${SECURE_PORT}`, certificates.client);
  const { kvs } = await client.unary(RPC.range, { key: kept, rangeEnd: Buffer.from('kept0') });
  const values = new Map(kvs.map((kv) => [Buffer.from(kv.key).toString(), Buffer.from(kv.value).toString()]));
  expect(values.size).toBe(CANARIES + customers.length);
  for (let n = 0; n < CANARIES; n += 1) expect(values.get(`kept/canary-${n}`)).toBe(`alive ${n}`);
  expect(rssBytes() - memoryBefore).toBeLessThan(GROWTH_BYTES_MAX);
  await until('the connections to be closed', () => openFiles() <= OPEN_FILES_MAX);
  console.log(
    `seed ${seed}: grew by ${Math.round((rssBytes() - memoryBefore) / 2 ** 20)} MiB, ${openFiles()} open files, ` +
      `slowest calls ${customers.map(({ slowestMs }) => `${slowestMs} ms`).join(', ')}`,
  );
});
