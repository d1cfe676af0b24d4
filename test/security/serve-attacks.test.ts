import { connect as connectPlain, type Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../core/base/random.ts';
import { hostileInput } from '../support/hostile-requests.ts';
import { sendHostile } from '../support/hostile-traffic.ts';
import { until } from '../support/until.ts';
import { ask, handshake, socketTo, startTestServing, type TestServing } from '../support/serving.ts';

const INPUTS = 10_000;
const CONNECTIONS = 8;
const FRAMES_PER_SOCKET_MAX = 200;
const SEED = 4_711;
const ANSWER_MS_MAX = 20_000;

let serving: TestServing;
let cookie: string;
beforeAll(async () => {
  serving = await startTestServing();
  cookie = await serving.signIn();
});
afterAll(() => serving.close());

const own = () => `127.0.0.1:${serving.port}`;

/** Sends bytes as they are and returns everything that comes back until the server closes. */
const exchange = (bytes: Buffer | string): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    const socket: TLSSocket = connect(
      { host: '127.0.0.1', port: serving.port, rejectUnauthorized: false },
      () => socket.end(bytes),
    );
    socket.setTimeout(ANSWER_MS_MAX, () => socket.destroy(new Error('no end within the time')));
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.once('close', () => resolve(text));
    socket.once('error', (error: NodeJS.ErrnoException) =>
      ['ECONNRESET', 'EPIPE'].includes(error.code ?? '') ? resolve(text) : reject(error),
    );
  });

const codesOf = (text: string): string[] =>
  [...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, code]) => code!);

test.each([
  'attacker.example',
  'attacker.example:443',
  '127.0.0.1',
  '127.0.0.1:1',
  'localhost.attacker.example',
  '127.0.0.1.nip.io',
  '0.0.0.0',
  '[::1]',
])('a name that was rebound to this machine gets nothing, with a session: %j', async (name) => {
  const host = name.includes('attacker') && !name.includes(':') ? `${name}:${serving.port}` : name;
  const { status } = await ask(serving, '/', { headers: { host, cookie } });
  const socket = socketTo(serving, { host, cookie, origin: `https://${host}` });
  expect([status, await handshake(socket)]).toEqual([
    expect.toSatisfy((code) => code === 421 || code === 400),
    expect.toSatisfy((code) => code === 421 || code === 400),
  ]);
});

test.each([
  ['another site', () => 'https://attacker.example'],
  ['another port of this machine', () => 'https://127.0.0.1:1'],
  ['plain HTTP', () => `http://${own()}`],
  ['no origin at all', () => 'null'],
  ['the other name of this machine', () => `https://localhost:${serving.port}`],
  ['a name that begins as ours', () => `https://${own()}.attacker.example`],
])('a page of %s cannot open the WebSocket with the cookie', async (_, origin) => {
  const socket = socketTo(serving, { host: own(), cookie, origin: origin() });
  expect(await handshake(socket)).toBe(403);
});

test('a page of this console can', async () => {
  const socket = socketTo(serving, { host: own(), cookie, origin: `https://${own()}` });
  expect(await handshake(socket)).toBe('open');
  socket.terminate();
});

test.each([
  '/../../../../etc/passwd',
  '/%2e%2e/%2e%2e/%2e%2e/etc/passwd',
  '/..%2f..%2f..%2fetc%2fpasswd',
  '/assets/..%5c..%5cetc/passwd',
  '/assets/../../tls.key',
  '//etc/passwd',
  '/etc/passwd%00.html',
  '/.%2e/.%2e/etc/passwd',
  'https://attacker.example/etc/passwd',
  'file:///etc/passwd',
])('no path leads out of the folder of pages: %s', async (path) => {
  const { status, body } = await ask(serving, path, { headers: { cookie } });
  expect({ status, isLeaked: /root:|PRIVATE KEY/.test(body) }).toEqual({ status: 404, isLeaked: false });
});

test('of a hundred uses of one link at the same time exactly one is signed in', async () => {
  const { search } = new URL(serving.mintUrl());
  const answers = await Promise.all(Array.from({ length: 100 }, () => ask(serving, `/${search}`)));
  const codes = answers.map(({ status }) => status);
  expect([codes.filter((code) => code === 303).length, codes.filter((code) => code === 401).length]).toEqual([
    1, 99,
  ]);
});

test('a link is not spent by another page, another method or another name', async () => {
  const { search } = new URL(serving.mintUrl());
  const path = `/${search}`;
  await ask(serving, path, { method: 'POST', headers: { origin: 'https://attacker.example' } });
  await ask(serving, path, { method: 'HEAD' });
  await ask(serving, path, { headers: { host: 'attacker.example' } });
  await ask(serving, path, {
    headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
  });
  expect((await ask(serving, path)).status).toBe(303);
});

test('a session of another console and an invented one give no access', async () => {
  const other = await startTestServing();
  try {
    const theirs = (await other.signIn()).replace(String(other.port), String(serving.port));
    const madeUp = cookie.replace(/=.*/, `=${'A'.repeat(43)}`);
    const codes = [theirs, madeUp, `${'a=b; '.repeat(3000)}${cookie}`].map(
      async (one) => (await ask(serving, '/', { headers: { cookie: one } })).status,
    );
    expect(await Promise.all(codes)).toEqual([
      401,
      401,
      expect.toSatisfy((code) => code === 401 || code === 431),
    ]);
  } finally {
    await other.close();
  }
});

const smuggled = () => `GET / HTTP/1.1\r\nHost: ${own()}\r\nCookie: ${cookie}\r\n\r\n`;
test.each<[string, () => string]>([
  ['two lengths', () => `GET / HTTP/1.1\r\nHost: ${own()}\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n`],
  [
    'a length and chunks',
    () =>
      `POST / HTTP/1.1\r\nHost: ${own()}\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    'chunks that are not last',
    () => `POST / HTTP/1.1\r\nHost: ${own()}\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
  ],
  [
    'a bad chunk size',
    () => `POST / HTTP/1.1\r\nHost: ${own()}\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n`,
  ],
  ['a folded header', () => `GET / HTTP/1.1\r\nHost: ${own()}\r\nX: a\r\n Content-Length: 9\r\n\r\n`],
  ['a bare line feed', () => `GET / HTTP/1.1\nHost: ${own()}\nX: y\r\n\r\n`],
  ['a blank before the colon', () => `GET / HTTP/1.1\r\nHost: ${own()}\r\nContent-Length : 5\r\n\r\nabcde`],
])('a request with %s is refused, and what follows it is not run', async (_, request) => {
  const codes = codesOf(await exchange(request() + smuggled()));
  expect(codes).not.toContain('200');
  expect(codes.every((code) => /^4/.test(code))).toBe(true);
});

test('the body of a request is not taken for the next request', async () => {
  const inner = smuggled();
  const codes = codesOf(
    await exchange(`GET / HTTP/1.1\r\nHost: ${own()}\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`),
  );
  expect(codes).toEqual(['401']);
});

test('the content of a file is never revealed through the contract', async () => {
  const secret = join(serving.dataDirectory, 'secret.txt');
  writeFileSync(secret, 'hunter2: [unclosed');
  const socket = socketTo(serving, { host: own(), cookie, origin: `https://${own()}` });
  expect(await handshake(socket)).toBe('open');
  const seen: string[] = [];
  socket.on('message', (data: Buffer) => seen.push(data.toString()));
  const calls = ['/etc/passwd', '/etc/shadow', secret, '/proc/self/environ', '/dev/zero', '..', ''];
  let next = 0;
  calls.forEach((path) => {
    for (const name of ['clusters.openKubeconfig', 'snapshots.inspect', 'clusters.create'])
      socket.send(JSON.stringify({ kind: 'call', id: (next += 1), name, input: { path } }));
  });
  await until('every answer', () => seen.length >= next);
  const { status } = await ask(serving, '/', { headers: { cookie } });
  socket.terminate();
  expect([status, seen.some((text) => /hunter2|root:x|PATH=/.test(text))]).toEqual([200, false]);
});

test('silent connections of others keep no one out and close no console', async () => {
  const console = socketTo(serving, { host: own(), cookie, origin: `https://${own()}` });
  expect(await handshake(console)).toBe('open');
  const silent = await Promise.all(
    Array.from({ length: 600 }, () => {
      const socket = connectPlain({ host: '127.0.0.1', port: serving.port });
      socket.on('error', () => undefined);
      return new Promise<Socket>((resolve) => {
        socket.once('connect', () => resolve(socket));
        socket.once('close', () => resolve(socket));
      });
    }),
  );
  const { status } = await ask(serving, '/', { headers: { cookie } });
  const pong = new Promise((resolve) => console.once('pong', () => resolve('alive')));
  console.ping();
  expect([status, await pong]).toEqual([200, 'alive']);
  console.terminate();
  for (const socket of silent) socket.destroy();
});

const secureSocket = (): Promise<TLSSocket> =>
  new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: serving.port, rejectUnauthorized: false };
    const socket = connect(options, () => resolve(socket.off('error', reject)));
    socket.once('error', reject);
  });

test('ten thousand requests that a browser would not send are answered or end their connection', async () => {
  const targets = [
    '/?token=',
    `/?token=${'A'.repeat(43)}`,
    '/contract',
    '/contract?x',
    '/assets/..%5c..',
    '/index.html',
  ];
  const hosts = ['', 'x', '127.0.0.1', `${own()}:1`];
  const { answered, hungUp, codes } = await sendHostile({
    inputs: INPUTS,
    connections: CONNECTIONS,
    open: secureSocket,
    input: (index) => {
      const random = seededRandom(SEED + index);
      const host = random.next() < 0.8 ? own() : hosts[random.below(hosts.length)]!;
      return hostileInput(random, { targets, host, headers: [`Cookie: ${cookie}`] });
    },
  });
  expect(answered + hungUp).toBe(INPUTS);
  expect(answered).toBeGreaterThan(INPUTS * 0.9);
  expect(Object.keys(codes).map(Number)).toEqual(expect.arrayContaining([200, 400, 401, 404, 421]));
  expect((await ask(serving, '/', { headers: { cookie } })).status).toBe(200);
});

test('ten thousand frames that no console would send are read or end their connection', async () => {
  const random = seededRandom(SEED + 1);
  const pick = <T>(values: readonly T[]): T => values[random.below(values.length)]!;
  const channels = Object.keys(serving.host.handlers);
  const value = (depth: number): unknown =>
    depth === 0
      ? pick([null, 0, -1, 1e300, '', 'x', '__proto__', '/nonexistent/x', '\u0000', true, [], {}])
      : pick([value(0), [value(depth - 1)], { path: value(depth - 1), cluster: value(0), id: value(0) }]);
  const frame = (): string =>
    pick([
      () =>
        JSON.stringify({
          kind: pick(['call', 'open', 'close', 'credit', 'x']),
          id: value(0),
          name: value(0),
          input: value(2),
        }),
      () =>
        JSON.stringify({ kind: 'call', id: 1 + random.below(100), name: pick(channels), input: value(3) }),
      () =>
        JSON.stringify({ kind: 'open', id: 1 + random.below(100), name: pick(channels), input: value(3) }),
      () => JSON.stringify(value(3)),
    ])();
  let [next, read, ended, answers] = [0, 0, 0, 0];
  const lane = async (): Promise<void> => {
    while (next < INPUTS) {
      const socket = socketTo(serving, { host: own(), cookie, origin: `https://${own()}` });
      if ((await handshake(socket)) !== 'open') throw new Error('the console no longer lets its page in');
      socket.on('error', () => undefined);
      socket.on('message', () => (answers += 1));
      const closed = new Promise<boolean>((resolve) => socket.once('close', () => resolve(false)));
      for (let sent = 0; sent < FRAMES_PER_SOCKET_MAX && next < INPUTS; sent += 1) {
        next += 1;
        // Frames are read in order: a pong says that the one before its ping was read, too.
        const pong = new Promise<boolean>((resolve) => socket.once('pong', () => resolve(true)));
        socket.send(frame());
        socket.ping();
        const isOpen = await Promise.race([pong, closed]);
        if (isOpen) read += 1;
        else ended += 1;
        if (!isOpen) break;
      }
      socket.terminate();
      await closed;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
  expect(read + ended).toBe(INPUTS);
  expect(answers).toBeGreaterThan(INPUTS / 10);
  expect((await ask(serving, '/', { headers: { cookie } })).status).toBe(200);
});
