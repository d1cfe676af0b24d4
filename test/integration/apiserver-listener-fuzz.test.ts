import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../core/base/random.ts';
import { authority, clientOf, PROTOCOLS } from '../support/apiserver.ts';
import { startFuzzServer, type FuzzServer } from '../support/fuzz-server.ts';
import { sendFrames } from '../support/hostile-frames.ts';
import { sendHostile } from '../support/hostile-traffic.ts';
import { fuzzHttp1, fuzzHttp2 } from '../support/listener-fuzz.ts';

/** Fixed, so that a run tells about the change at hand; another one looks elsewhere. */
const seed = Number(process.env['PILOTHOUSE_SEED'] ?? 1);
/** Each on a connection of its own; the default cluster gets ten thousand on connections that are kept. */
const HTTP1_INPUTS = 1000;
const HTTP2_INPUTS = 10_000;
const INPUTS_PER_CONNECTION_MAX = 40;
const CONNECTIONS_AT_ONCE = 8;

const admin = clientOf(authority, 'admin', ['system:masters']);
const opened: (() => Promise<void> | void)[] = [];
let fuzzed: FuzzServer;

beforeAll(async () => {
  fuzzed = await startFuzzServer({ minor: 36, seed, opened });
});
afterAll(async () => {
  for (const close of opened.reverse()) await close();
});

const dial = (protocol: string): Promise<TLSSocket> =>
  new Promise((resolve, reject) => {
    const socket = connectTls(
      {
        host: '127.0.0.1',
        port: fuzzed.server.port,
        ca: authority.certificatePem,
        cert: admin.certificatePem,
        key: admin.privateKeyPem,
        ALPNProtocols: [protocol],
      },
      () => {
        socket.off('error', reject);
        socket.on('error', () => undefined);
        resolve(socket);
      },
    );
    socket.once('error', reject);
  });

const expectAlive = async (): Promise<void> => {
  const codes = await Promise.all(
    PROTOCOLS.map(([, ask]) => ask({ port: fuzzed.server.port, path: '/readyz', credential: admin })),
  );
  const defects = new Set(fuzzed.defects.map((one) => JSON.stringify({ ...(one as object), auditId: '' })));
  expect([codes.map(({ code }) => code), [...defects]]).toEqual([[200, 200], []]);
};

test(`no bytes on HTTP/1.1 end the server or make it fail (seed ${seed})`, async () => {
  const { answered, hungUp } = await sendHostile({
    inputs: HTTP1_INPUTS,
    connections: CONNECTIONS_AT_ONCE,
    open: () => dial('http/1.1'),
    input: (at) => ({ bytes: fuzzHttp1(seededRandom(seed * 1_000_003 + at)), isLast: true }),
  });
  expect(answered + hungUp).toBe(HTTP1_INPUTS);
  await expectAlive();
});

test(`no frames on HTTP/2 end the server or make it fail (seed ${seed})`, async () => {
  const { read, ended, answered } = await sendFrames({
    inputs: HTTP2_INPUTS,
    connections: CONNECTIONS_AT_ONCE,
    inputsPerConnectionMax: INPUTS_PER_CONNECTION_MAX,
    open: () => dial('h2'),
    input: (at, streamId) => fuzzHttp2(seededRandom(seed * 7_000_003 + at), streamId),
  });
  expect(read + ended).toBe(HTTP2_INPUTS);
  expect(answered).toBeGreaterThan(HTTP2_INPUTS / 2);
  await expectAlive();
});
