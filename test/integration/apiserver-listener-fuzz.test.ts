import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { frame, FRAME, PREFACE } from '../../core/base/node/http2/frame.ts';
import { seededRandom } from '../../core/base/random.ts';
import { authority, clientOf, PROTOCOLS } from '../support/apiserver.ts';
import { startFuzzServer, type FuzzServer } from '../support/fuzz-server.ts';
import { fuzzHttp1, fuzzHttp2 } from '../support/listener-fuzz.ts';

/** Fixed, so that a run tells about the change at hand; another one looks elsewhere. */
const seed = Number(process.env['PILOTHOUSE_SEED'] ?? 1);
/** With those of the objects, ten thousand. */
const HTTP1_INPUTS = 1000;
const HTTP2_INPUTS = 7500;
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
        socket.resume();
        resolve(socket);
      },
    );
    socket.once('error', reject);
  });

const closed = (socket: TLSSocket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });

/** Works through inputs on several connections at once; `use` says how many it has used of those that are left. */
const attack = async (inputs: number, use: (from: number, count: number) => Promise<void>): Promise<void> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < inputs) {
      const from = next;
      const count = Math.min(INPUTS_PER_CONNECTION_MAX, inputs - from);
      next += count;
      await use(from, count);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS_AT_ONCE }, worker));
};

const expectAlive = async (): Promise<void> => {
  const codes = await Promise.all(
    PROTOCOLS.map(([, ask]) => ask({ port: fuzzed.server.port, path: '/readyz', credential: admin })),
  );
  const defects = new Set(fuzzed.defects.map((one) => JSON.stringify({ ...(one as object), auditId: '' })));
  expect([codes.map(({ code }) => code), [...defects]]).toEqual([[200, 200], []]);
};

test(`no bytes on HTTP/1.1 end the server or make it fail (seed ${seed})`, async () => {
  await attack(HTTP1_INPUTS, async (from, count) => {
    for (let at = from; at < from + count; at += 1) {
      const socket = await dial('http/1.1');
      socket.end(fuzzHttp1(seededRandom(seed * 1_000_003 + at)));
      const late = setTimeout(() => socket.destroy(), 50);
      await closed(socket);
      clearTimeout(late);
    }
  });
  await expectAlive();
});

test(`no frames on HTTP/2 end the server or make it fail (seed ${seed})`, async () => {
  await attack(HTTP2_INPUTS, async (from, count) => {
    for (let at = from; at < from + count;) {
      const socket = await dial('h2');
      socket.write(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0, Buffer.alloc(0))]));
      for (let streamId = 1; at < from + count && !socket.destroyed; at += 1, streamId += 2) {
        const sent = new Promise((resolve) =>
          socket.write(fuzzHttp2(seededRandom(seed * 7_000_003 + at), streamId), resolve),
        );
        await sent;
        await new Promise((resolve) => setImmediate(resolve));
      }
      socket.destroy();
    }
  });
  await expectAlive();
});
