import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { encodeHeaders } from '../../core/base/node/http2/hpack.ts';
import {
  FLAG,
  FRAME,
  frame,
  PREFACE,
  SETTING,
  settingsPayload,
  uint32Payload,
} from '../../core/base/node/http2/frame.ts';
import { attackedApi, type AttackedApi, type Identity } from './api-client.ts';

let api: AttackedApi;
const sockets: TLSSocket[] = [];
beforeAll(async () => {
  api = await attackedApi(inject('attackedData'));
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
});

const NOTHING = Buffer.alloc(0);
const request = (streamId: number, path: string): Buffer =>
  frame(
    FRAME.headers,
    FLAG.endHeaders | FLAG.endStream,
    streamId,
    encodeHeaders([
      { name: ':method', value: 'GET' },
      { name: ':scheme', value: 'https' },
      { name: ':path', value: path },
    ]),
  );
const hello = (window: number): Buffer =>
  Buffer.concat([
    PREFACE,
    frame(FRAME.settings, 0, 0, settingsPayload([[SETTING.initialWindowSize, window]])),
  ]);

const attack = async (bytes: Buffer, identity?: Identity): Promise<TLSSocket> => {
  const socket = await api.dial('h2', identity);
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.resume();
  socket.write(bytes);
  return socket;
};

const streams = (count: number, path: string): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, at) => request(2 * at + 1, path)));

const CLUSTER_INFO = '/api/v1/namespaces/kube-public/configmaps/cluster-info';

test.each(['/livez', '/readyz', '/healthz', CLUSTER_INFO])(
  '%s is answered without credentials',
  async (path) => {
    expect((await api.ask({ path })).code).toBe(200);
  },
);

test.each([
  '/',
  '/api',
  '/apis',
  '/version',
  '/metrics',
  '/openapi/v2',
  '/openapi/v3',
  '/livez/ping',
  '/livez/',
  '/.well-known/openid-configuration',
  `${CLUSTER_INFO}/`,
  '/api/v1/namespaces/kube-public/configmaps',
  `${CLUSTER_INFO}x`,
  '/api/v1/namespaces',
  '/debug/traces',
])('%s is not answered without credentials', async (path) => {
  expect((await api.ask({ path })).code).toBe(401);
});

test('streams that take nothing keep no one else from being served', async () => {
  for (let n = 0; n < 5; n += 1) await attack(Buffer.concat([hello(0), streams(100, '/readyz')]));
  const nobody = api.identity('attack-nobody');
  for (let n = 0; n < 5; n += 1) await attack(Buffer.concat([hello(0), streams(100, '/openapi/v2')]), nobody);
  const answers = await Promise.all([
    api.ask({ path: '/readyz' }),
    api.ask({ ...api.admin, path: '/api/v1/nodes' }),
    api.ask({ ...api.identity('attack-other'), path: '/version' }),
  ]);
  expect(answers.map(({ code }) => code)).toEqual([200, 200, 200]);
});

const FLOOD = 8000;
test.each<[string, (streamId: number) => Buffer]>([
  ['settings', () => frame(FRAME.settings, 0, 0, NOTHING)],
  ['pings', () => frame(FRAME.ping, 0, 0, Buffer.alloc(8))],
  ['window updates', () => frame(FRAME.windowUpdate, 0, 0, uint32Payload(1))],
  ['priorities', () => frame(FRAME.priority, 0, 1, Buffer.alloc(5))],
  [
    'streams that are reset',
    (id) => Buffer.concat([request(id, '/livez'), frame(FRAME.resetStream, 0, id, uint32Payload(8))]),
  ],
])('a flood of %s closes the connection', async (_what, make) => {
  const flood = Array.from({ length: FLOOD }, (_, at) => make(2 * at + 1));
  const socket = await attack(Buffer.concat([hello(65_535), ...flood]), api.identity('attack-flood'));
  await new Promise<void>((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
  expect((await api.ask({ path: '/livez' })).code).toBe(200);
});
