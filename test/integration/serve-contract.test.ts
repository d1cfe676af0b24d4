import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { manualClock } from '../../core/base/manual-clock.ts';
import { connectClient, verbatim, type ClientConnection, type ItemOf } from '../../core/contract/index.ts';
import { MESSAGE_BYTES_MAX, PING_INTERVAL_MS, SOCKETS_MAX } from '../../main/serve/contract-sockets.ts';
import { closeCode, handshake, socketTo, startTestServing, type TestServing } from '../support/serving.ts';

const KIBIBYTE = 1024;
/** More than the backlog and every buffer of the kernel between. */
const FLOOD_BATCHES = 400;
const FLOOD_TURNS_MAX = 20_000;

let serving: TestServing;
let cookie: string;
const sockets: WebSocket[] = [];

beforeAll(async () => {
  serving = await startTestServing();
  cookie = await serving.signIn();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  await expect.poll(() => serving.stats().socketCount).toBe(0);
});
afterAll(() => serving.close());

const ownOrigin = (to: TestServing = serving): string => `https://127.0.0.1:${to.port}`;

const dial = (headers: Record<string, string>, to: TestServing = serving): WebSocket => {
  const socket = socketTo(to, headers);
  sockets.push(socket);
  return socket;
};

const open = async (to: TestServing = serving, session = cookie): Promise<WebSocket> => {
  const socket = dial({ cookie: session, origin: ownOrigin(to) }, to);
  expect(await handshake(socket)).toBe('open');
  return socket;
};

const clientOver = (socket: WebSocket): ClientConnection => {
  const client = connectClient((message) => socket.send(JSON.stringify(message)));
  socket.on('message', (data: Buffer) => client.receive(JSON.parse(data.toString('utf8'))));
  socket.on('close', () => client.close('the socket closed'));
  return client;
};

const nextMessage = (socket: WebSocket): Promise<unknown> =>
  new Promise((resolve) =>
    socket.once('message', (data: Buffer) => resolve(JSON.parse(data.toString('utf8')))),
  );

test('a call and a stream go through the socket', async () => {
  const client = clientOver(await open());
  expect(await client.call('app.info', undefined)).toMatchObject({ shell: 'browser', version: '0.0.0-test' });
  const themes: string[] = [];
  const stream = client.open('settings.watch', undefined, {
    onBatch: (items) => themes.push(...items.map(({ theme }) => theme)),
    onEnd: (error) => themes.push(`ended: ${error?.reason}`),
  });
  await expect.poll(() => themes).toEqual(['system']);
  await client.call('settings.write', { theme: 'dark' });
  await expect.poll(() => themes).toEqual(['system', 'dark']);
  expect(serving.stats().openStreamCount).toBe(1);
  stream.dispose();
  await expect.poll(() => serving.stats().openStreamCount).toBe(0);
});

test('a page that goes away takes its streams with it', async () => {
  const socket = await open();
  const client = clientOver(socket);
  const seen: ItemOf<'app.vitals'>[] = [];
  client.open(
    'app.vitals',
    { everySeconds: 1 },
    { onBatch: (items) => seen.push(...items), onEnd: () => undefined },
  );
  await expect.poll(() => seen.length).toBeGreaterThan(0);
  socket.terminate();
  await expect.poll(() => serving.stats()).toMatchObject({ socketCount: 0, openStreamCount: 0 });
});

test.each([
  ['without a session', () => ({ origin: ownOrigin() }), 401],
  ['with a wrong session', () => ({ origin: ownOrigin(), cookie: `${cookie}x` }), 401],
  ['from another site', () => ({ origin: 'https://evil.example', cookie }), 403],
  ['from another local port', () => ({ origin: 'https://127.0.0.1:1', cookie }), 403],
  ['from the plain-text twin', () => ({ origin: ownOrigin().replace('https', 'http'), cookie }), 403],
  ['from a sandboxed frame', () => ({ origin: 'null', cookie }), 403],
  ['without an origin', () => ({ cookie }), 403],
  ['under another name', () => ({ origin: 'https://evil.example', cookie, host: 'evil.example' }), 421],
])('a WebSocket %s is refused', async (_who, headers, status) => {
  expect(await handshake(dial(headers()))).toBe(status);
});

test('only one path speaks the contract', async () => {
  const socket = socketTo(serving, { cookie, origin: ownOrigin() }, { path: '/other' });
  sockets.push(socket);
  expect(await handshake(socket)).toBe(404);
});

test.each([
  [{ kind: 'call', id: 1, name: 'no.such' }, 'BadRequest'],
  [{ kind: 'call', id: 1, name: 'settings.write', input: { theme: 'pink' } }, 'BadRequest'],
  [{ kind: 'call', id: 1, name: '__proto__' }, 'BadRequest'],
  [{ kind: 'shout', id: 1 }, 'BadRequest'],
  [{ id: 1 }, 'BadRequest'],
  [{ kind: 'call', id: 1, name: 'app.openExternal', input: { url: 'https://a.example/' } }, 'Unimplemented'],
])('%j is answered with a failure and the socket stays open', async (message, reason) => {
  const socket = await open();
  socket.send(JSON.stringify(message));
  expect(await nextMessage(socket)).toMatchObject({ kind: 'failure', id: 1, failure: { reason } });
  expect(await clientOver(socket).call('settings.read', undefined)).toHaveProperty('theme');
});

test('a stream that does not exist ends with a failure', async () => {
  const socket = await open();
  socket.send(JSON.stringify({ kind: 'open', id: 9, name: 'no.such' }));
  expect(await nextMessage(socket)).toMatchObject({ kind: 'end', id: 9, failure: { reason: 'BadRequest' } });
});

test.each([
  ['text that is no JSON', '{"kind":', 1007],
  ['a binary frame', Buffer.from('{}'), 1003],
  ['a frame too large', JSON.stringify({ kind: 'call', id: 1, name: 'x'.repeat(MESSAGE_BYTES_MAX) }), 1009],
])('%s closes the socket with its code', async (_what, frame, code) => {
  const socket = await open();
  const closed = closeCode(socket);
  socket.send(frame);
  expect(await closed).toBe(code);
});

test('random frames never stop the others from being served', async () => {
  const other = clientOver(await open());
  const values = [
    null,
    1,
    'x',
    [],
    [[[]]],
    { kind: null },
    { kind: 'credit', id: 99 },
    { kind: 'close', id: 99 },
  ];
  for (let round = 0; round < 40; round += 1) {
    const socket = await open();
    socket.on('error', () => undefined);
    socket.send(JSON.stringify(values[round % values.length]));
    socket.send(round % 3 === 0 ? randomBytes(200) : randomBytes(200).toString('latin1'));
    socket.send(JSON.stringify({ kind: 'hello' }));
    socket.terminate();
  }
  expect(await other.call('settings.read', undefined)).toHaveProperty('theme');
});

test('a console that does not read is cut off instead of filling memory', async () => {
  let sentBatches = 0;
  let ended = false;
  const flood = await startTestServing({
    handlers: {
      'notifications.watch': async function* (_input, signal) {
        try {
          while (!signal.aborted && sentBatches < FLOOD_BATCHES) {
            sentBatches += 1;
            const detail = verbatim('x'.repeat(64 * KIBIBYTE));
            yield Array.from({ length: 8 }, (_, n) => ({
              id: `${sentBatches}-${n}`,
              severity: 'info' as const,
              title: verbatim('flood'),
              detail,
              atMs: 0,
            }));
          }
        } finally {
          ended = true;
        }
      },
    },
  });
  try {
    const socket = await open(flood, await flood.signIn());
    socket.send(JSON.stringify({ kind: 'open', id: 1, name: 'notifications.watch' }));
    await nextMessage(socket);
    socket.pause();
    // It grants room, one batch at a time, for what it never takes off the wire.
    for (let n = 0; n < FLOOD_TURNS_MAX && !ended; n += 1) {
      if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ kind: 'credit', id: 1 }));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect.poll(() => [flood.stats().socketCount, ended]).toEqual([0, true]);
    expect(sentBatches).toBeLessThan(FLOOD_BATCHES);
    socket.terminate();
  } finally {
    await flood.close();
  }
});

test('a console that no longer answers is cut off', async () => {
  const clock = manualClock();
  const quiet = await startTestServing({ clock });
  try {
    const session = await quiet.signIn();
    const alive = await open(quiet, session);
    const dead = socketTo(quiet, { cookie: session, origin: ownOrigin(quiet) }, { autoPong: false });
    sockets.push(dead);
    await handshake(dead);
    const pings = Promise.all(
      [alive, dead].map((socket) => new Promise((resolve) => socket.once('ping', resolve))),
    );
    clock.advance(PING_INTERVAL_MS);
    await pings;
    // The answer of the living one travels behind its pong.
    await clientOver(alive).call('settings.read', undefined);
    clock.advance(PING_INTERVAL_MS);
    expect(await closeCode(dead)).toBe(1006);
    expect(quiet.stats().socketCount).toBe(1);
  } finally {
    await quiet.close();
  }
});

test('there is a limit to consoles immediately', async () => {
  const all = await Promise.all(Array.from({ length: SOCKETS_MAX }, () => open()));
  const extra = await open();
  expect(await closeCode(extra)).toBe(1013);
  expect([all.length, serving.stats().socketCount]).toEqual([SOCKETS_MAX, SOCKETS_MAX]);
});

test('closing says goodbye and ends every stream', async () => {
  const short = await startTestServing();
  const socket = await open(short, await short.signIn());
  const client = clientOver(socket);
  const ended = new Promise<string | undefined>((resolve) => {
    client.open('settings.watch', undefined, {
      onBatch: () => undefined,
      onEnd: (error) => resolve(error?.reason),
    });
  });
  const closed = closeCode(socket);
  await client.call('settings.read', undefined);
  await short.close();
  expect([await closed, await ended, short.stats().openStreamCount]).toEqual([1001, 'Unavailable', 0]);
});
