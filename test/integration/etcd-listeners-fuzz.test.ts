import { mkdtempSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { connect as connectTcp, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../core/base/random.ts';
import { makeCertificates } from '../support/etcd-certificates.ts';
import type { ClusterCertificates } from '../support/etcd-cluster.ts';
import {
  FRAME,
  http2Frame,
  http2Session,
  oddGatewayRequest,
  oddPeerFrames,
  oddRequest,
  oddTlsRecord,
  PREFACE,
  randomBytes,
  randomFrame,
  SAMPLES,
} from '../support/etcd-fuzz.ts';
import { ETCD_METRICS, LABELLED_ETCD_METRICS } from '../support/etcd-metric-names.ts';
import { startCommand, type CommandProcess } from '../support/etcd-process.ts';
import { RPC } from '../support/etcd-rpc.ts';
import { connectRpc, type RpcClient } from '../support/grpc-client.ts';
import { sendHostile, type Tally } from '../support/hostile-traffic.ts';

const OCTET = 72;
const HOST = `127.${OCTET}.0.1`;
const PORTS = { client: 2379, peer: 2380, metrics: 2381, plainPeer: 2382, plainClient: 2383 };
/** With 10,000 for the client listener in etcd-fuzz.test.ts. */
const INPUTS = {
  metrics: 10_000,
  gateway: 5_000,
  plainPeer: 9_600,
  tlsRecords: 320,
  securePeer: 80,
  floods: 24,
};
const AT_ONCE = 48;
const CONNECT_LIMIT_MS = 10_000;
const FLOOD_FRAMES = 20_000;

/** Fixed, so that a run tells about the change at hand; another one looks elsewhere. */
const seed = Number(process.env['PILOTHOUSE_SEED'] ?? 1);
const random = seededRandom(seed);
const directory = mkdtempSync(join(tmpdir(), 'pilothouse-listeners-'));
let certificates: ClusterCertificates;
let member: CommandProcess;
let client: RpcClient;

beforeAll(async () => {
  certificates = makeCertificates(join(directory, 'pki'), OCTET);
  const at = (scheme: string, port: number): string => `${scheme}://${HOST}:${port}`;
  const clientUrls = `${at('https', PORTS.client)},${at('http', PORTS.plainClient)}`;
  member = startCommand(
    ...['component', 'etcd', '--log-level=info', `--data-dir=${join(directory, 'data')}`],
    ...[`--listen-client-urls=${clientUrls}`, `--advertise-client-urls=${clientUrls}`],
    `--listen-peer-urls=${at('https', PORTS.peer)},${at('http', PORTS.plainPeer)}`,
    `--initial-advertise-peer-urls=${at('https', PORTS.peer)}`,
    `--listen-metrics-urls=${at('http', PORTS.metrics)}`,
    ...[`--cert-file=${certificates.serverCertFile}`, `--key-file=${certificates.serverKeyFile}`],
    ...[`--trusted-ca-file=${certificates.caFile}`, '--client-cert-auth'],
    ...[`--peer-cert-file=${certificates.peerCertFile}`, `--peer-key-file=${certificates.peerKeyFile}`],
    ...[`--peer-trusted-ca-file=${certificates.caFile}`, '--peer-client-cert-auth'],
  );
  await member.until(/"msg":"ready to serve client requests"/);
  client = connectRpc(at('https', PORTS.client), certificates.client);
  await client.ready();
  await client.unary(RPC.put, { key: Buffer.from('kept'), value: Buffer.from('as it was') });
});

afterAll(async () => {
  client.close();
  await member.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

const statusOf = (path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const request = get({ host: HOST, port: PORTS.metrics, path, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.once('error', reject);
  });

/** Alive, and serving on its earlier connection as well as on new ones. */
afterEach(async () => {
  expect(member.child.exitCode, `seed ${seed}: ${member.stderr}`).toBeNull();
  const { kvs } = await client.unary(RPC.range, { key: Buffer.from('kept') });
  expect(kvs.map(({ value }) => Buffer.from(value).toString())).toEqual(['as it was']);
  expect(await Promise.all([statusOf('/health'), statusOf('/metrics')])).toEqual([200, 200]);
});

/** Sends without end, and waits until the other side hangs up. Resolves with what came back. */
const flood = (socket: Socket, bytes: Buffer): Promise<Buffer> =>
  new Promise((resolve) => {
    const received: Buffer[] = [];
    const limit = setTimeout(() => socket.destroy(), CONNECT_LIMIT_MS);
    socket.on('error', () => undefined); // a reset is one of the right answers
    socket.on('data', (chunk: Buffer) => received.push(chunk));
    socket.once('close', () => {
      clearTimeout(limit);
      resolve(Buffer.concat(received));
    });
    socket.write(bytes);
  });

const connected = (socket: Socket, event: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    socket.once(event, () => resolve(socket.off('error', reject)));
    socket.once('error', reject);
  });
const plain = (port: number) => (): Promise<Socket> => connected(connectTcp(port, HOST), 'connect');

/** Each on a connection of its own, which the member closes once it has read the input and its end. */
const throwAll = (
  inputs: number,
  open: () => Promise<Socket>,
  bytes: (n: number) => Buffer,
): Promise<Tally> =>
  sendHostile({ inputs, connections: AT_ONCE, open, input: (n) => ({ bytes: bytes(n), isLast: true }) });

test(`${INPUTS.metrics} odd requests and bytes at the metrics listener (PILOTHOUSE_SEED=${seed})`, async () => {
  const { answered, hungUp } = await throwAll(INPUTS.metrics, plain(PORTS.metrics), (n) => {
    const kind = n % 8;
    return kind === 0
      ? randomBytes(random, 1 + random.below(300))
      : kind === 1
        ? Buffer.concat([PREFACE, randomFrame(random)])
        : kind === 2
          ? oddTlsRecord(random)
          : oddRequest(random);
  });
  expect(answered + hungUp).toBe(INPUTS.metrics);
  expect(answered).toBeGreaterThan(INPUTS.metrics / 2);
});

test(`${INPUTS.gateway} odd requests at the JSON gateway, and every whole one is answered`, async () => {
  let whole = 0;
  const { answered, hungUp } = await sendHostile({
    inputs: INPUTS.gateway,
    connections: AT_ONCE,
    open: plain(PORTS.plainClient),
    input() {
      const { bytes, wantsAnswer } = oddGatewayRequest(random);
      if (wantsAnswer) whole += 1;
      return { bytes, isLast: !wantsAnswer };
    },
  });
  expect(answered + hungUp).toBe(INPUTS.gateway);
  expect(answered).toBeGreaterThanOrEqual(whole);
  expect(whole).toBeGreaterThan(INPUTS.gateway / 2);
});

test(`${INPUTS.plainPeer + INPUTS.securePeer} broken hellos, frames and records at the peer listener`, async () => {
  const frames = await throwAll(INPUTS.plainPeer, plain(PORTS.plainPeer), (n) => {
    const kind = n % 8;
    return kind === 0
      ? randomBytes(random, 1 + random.below(400))
      : kind === 1
        ? oddRequest(random)
        : oddPeerFrames(random);
  });
  const records = await throwAll(INPUTS.tlsRecords, plain(PORTS.peer), () => oddTlsRecord(random));
  const secure = (): Promise<Socket> =>
    connected(connectTls({ host: HOST, port: PORTS.peer, ...certificates.client }), 'secureConnect');
  const behindTls = await throwAll(INPUTS.securePeer, secure, () => oddPeerFrames(random));
  expect([frames.hungUp, records.hungUp, behindTls.hungUp]).toEqual([
    INPUTS.plainPeer,
    INPUTS.tlsRecords,
    INPUTS.securePeer,
  ]);
});

test('metrics have the names and types of etcd 3.6', async () => {
  await Promise.all(['/livez', '/readyz', '/health'].map(statusOf));
  const text = await (await fetch(`http://${HOST}:${PORTS.metrics}/metrics`)).text();
  const types = Object.fromEntries(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]),
  );
  const expected = Object.entries(ETCD_METRICS).filter(
    ([name]) => name in types || !LABELLED_ETCD_METRICS.test(name),
  );
  expect(types).toMatchObject(Object.fromEntries(expected));
});

describe('a flood ends its own connection', () => {
  const RST_STREAM = 3;
  const PING = 6;
  const FIRST_STREAM = 1;
  const { path, message } = SAMPLES[0]!;
  /** The frames of a valid call without preface and settings: its header block opens a stream. */
  const session = http2Session(path, message);
  const many = (frame: (n: number) => Buffer): Buffer =>
    Buffer.concat([
      PREFACE,
      http2Frame(FRAME.SETTINGS, 0, 0, Buffer.alloc(0)),
      ...Array.from({ length: FLOOD_FRAMES }, (_, n) => frame(n)),
    ]);
  const headersOf = (bytes: Buffer): Buffer => {
    let at = PREFACE.length;
    for (;;) {
      const end = at + 9 + bytes.readUIntBE(at, 3);
      if (bytes[at + 3] === FRAME.HEADERS) return bytes.subarray(at + 9, end);
      at = end;
    }
  };
  const block = headersOf(session);
  const reset = (stream: number): Buffer => http2Frame(RST_STREAM, 0, stream, Buffer.from([0, 0, 0, 8]));
  const floods: readonly (readonly [string, () => Buffer])[] = [
    ['PINGs', () => many(() => http2Frame(PING, 0, 0, Buffer.alloc(8)))],
    ['SETTINGS', () => many(() => http2Frame(FRAME.SETTINGS, 0, 0, Buffer.alloc(6)))],
    [
      'streams that are reset',
      () =>
        many((n) => {
          const stream = FIRST_STREAM + 2 * n;
          return Buffer.concat([http2Frame(FRAME.HEADERS, 0x4, stream, block), reset(stream)]);
        }),
    ],
    [
      'empty DATA',
      () =>
        many((n) =>
          n === 0 ? http2Frame(FRAME.HEADERS, 0x4, 1, block) : http2Frame(FRAME.DATA, 0, 1, Buffer.alloc(0)),
        ),
    ],
  ];

  test.each(floods)('of %s', async (_what, bytesOf) => {
    const bytes = bytesOf();
    const answers = await Promise.all(
      Array.from({ length: INPUTS.floods / floods.length }, () =>
        flood(connectTcp(PORTS.plainClient, HOST), bytes),
      ),
    );
    // The last words of the connection say what there was too much of.
    for (const answer of answers) expect(answer.includes('too')).toBe(true);
  });
});
