import { randomBytes } from 'node:crypto';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { manualClock } from '../../core/base/manual-clock.ts';
import { TOKEN_VALIDITY_MS } from '../../main/serve/access.ts';
import { seededRandom } from '../../core/base/random.ts';
import { ask, startTestServing, type TestServing } from '../support/serving.ts';

let serving: TestServing;
let cookie: string;
beforeAll(async () => {
  serving = await startTestServing();
  cookie = await serving.signIn();
});
afterAll(() => serving.close());

const pathOf = (url: string): string => url.slice(new URL(url).origin.length);

test('without a session everything is 401, with a page that says how to get in', async () => {
  for (const path of ['/', '/index.html', '/assets/app-1234.js', '/contract', '/nothing']) {
    const { status, body, headers } = await ask(serving, path);
    expect([path, status, headers['set-cookie']]).toEqual([path, 401, undefined]);
    expect(body).toContain('Open a new link');
  }
});

test('a link works once: it becomes a cookie and the token leaves the address', async () => {
  const url = serving.mintUrl();
  const first = await ask(serving, pathOf(url));
  expect([first.status, first.headers.location]).toEqual([303, '/']);
  const [set = ''] = first.headers['set-cookie'] ?? [];
  expect(set).toMatch(
    new RegExp(`^__Host-pilothouse-${serving.port}=[\\w-]{43}; Path=/; Secure; HttpOnly; SameSite=Strict$`),
  );
  const page = await ask(serving, '/', { headers: { cookie: set.split(';')[0] ?? '' } });
  expect([page.status, page.body]).toEqual([200, '<!doctype html><title>console</title>']);
  const second = await ask(serving, pathOf(url));
  expect([second.status, second.headers['set-cookie']]).toEqual([401, undefined]);
  expect(second.body).toContain('has already been used');
});

test('the link that start printed works as well', async () => {
  expect((await ask(serving, pathOf(serving.url))).status).toBe(303);
});

test.each(['wrong', '', 'A'.repeat(43), 'A'.repeat(10_000), '%00', '%E0%A4%A'])(
  'wrong token %# opens nothing',
  async (token) => {
    const { status, headers } = await ask(serving, `/?token=${token}`);
    expect([status, headers['set-cookie']]).toEqual([401, undefined]);
  },
);

test('a token that was not used in time opens nothing', async () => {
  const clock = manualClock();
  const slow = await startTestServing({ clock });
  try {
    clock.advance(TOKEN_VALIDITY_MS);
    expect((await ask(slow, pathOf(slow.url))).status).toBe(401);
    expect((await ask(slow, pathOf(slow.mintUrl()))).status).toBe(303);
  } finally {
    await slow.close();
  }
});

test('a HEAD request does not spend a token', async () => {
  const url = serving.mintUrl();
  expect((await ask(serving, pathOf(url), { method: 'HEAD' })).status).toBe(401);
  expect((await ask(serving, pathOf(url))).status).toBe(303);
});

test('a name that was pointed at this machine is refused, even with a session', async () => {
  for (const host of [
    'evil.example',
    `evil.example:${serving.port}`,
    '127.0.0.1',
    `127.0.0.1:${serving.port + 1}`,
  ]) {
    const { status, body } = await ask(serving, '/', { headers: { host, cookie } });
    expect([host, status]).toEqual([host, 421]);
    expect(body).not.toContain('console</title>');
  }
  const { status } = await ask(serving, '/', { headers: { host: `localhost:${serving.port}`, cookie } });
  expect(status).toBe(200);
});

test('another page gets nothing: not by POST, not by fetch from another port', async () => {
  const own = `https://127.0.0.1:${serving.port}`;
  const statusOf = async (method: string, headers: Record<string, string>): Promise<number> =>
    (await ask(serving, '/', { method, headers: { cookie, ...headers } })).status;
  expect([
    await statusOf('POST', { origin: 'https://evil.example' }),
    await statusOf('POST', {}),
    await statusOf('DELETE', { origin: own }),
    await statusOf('GET', {
      'sec-fetch-site': 'same-site',
      'sec-fetch-mode': 'cors',
      'sec-fetch-dest': 'empty',
    }),
    await statusOf('GET', {
      'sec-fetch-site': 'same-origin',
      'sec-fetch-mode': 'cors',
      'sec-fetch-dest': 'empty',
    }),
  ]).toEqual([403, 403, 405, 403, 200]);
  const { headers } = await ask(serving, '/', { headers: { cookie, origin: 'https://evil.example' } });
  expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
});

test.each([
  '/../package.json',
  '/../../../../../../etc/passwd',
  '/%2e%2e/%2e%2e/etc/passwd',
  '/assets/..%2f..%2fsettings.json',
  '/assets/%5c..%5c..%5csettings.json',
  '/assets/../../serve/ca.key',
  '//etc/passwd',
  '/serve/ca.key',
  '/index.html%00.js',
  '/__proto__',
])('%s names no file', async (path) => {
  const { status, body } = await ask(serving, path, { headers: { cookie } });
  expect(status).toBe(404);
  expect(body).not.toMatch(/root:|PRIVATE KEY|"name"/);
});

test('every answer carries the strict headers, and files are cached by what their name promises', async () => {
  const answers = await Promise.all([
    ask(serving, '/', { headers: { cookie } }),
    ask(serving, '/'),
    ask(serving, '/nothing', { headers: { cookie } }),
    ask(serving, '/assets/app-1234.js', { headers: { cookie } }),
  ]);
  for (const { headers } of answers) {
    const policy = String(headers['content-security-policy']);
    for (const directive of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
      expect(policy).toContain(directive);
    expect(policy).not.toContain('unsafe');
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
  }
  const [index, refused, , asset] = answers;
  expect([index?.headers['cache-control'], refused?.headers['cache-control']]).toEqual([
    'private, no-cache',
    'no-store',
  ]);
  expect(asset?.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'private, max-age=31536000, immutable',
  });
  const again = await ask(serving, '/', { headers: { cookie, 'if-none-match': index?.headers.etag ?? '' } });
  expect([again.status, again.body]).toEqual([304, '']);
});

test('the authority vouches for loopback only, and nothing below TLS 1.3 is spoken', async () => {
  const version = (maxVersion: 'TLSv1.2' | 'TLSv1.3'): Promise<string | null> =>
    new Promise((resolve) => {
      const { port, authorityPem: ca } = serving;
      const socket = connectTls({ host: '127.0.0.1', port, ca, maxVersion }, () => {
        resolve(socket.getProtocol());
        socket.destroy();
      });
      socket.on('error', (error) => resolve((error as NodeJS.ErrnoException).code ?? 'failed'));
    });
  expect(await version('TLSv1.3')).toBe('TLSv1.3');
  expect(await version('TLSv1.2')).toContain('ERR_SSL');
});

/** Resolves when the server has closed or reset the connection. */
const throwAt = (port: number, chunks: readonly Buffer[], tls: boolean): Promise<void> =>
  new Promise((resolve) => {
    const send = (): void => {
      for (const chunk of chunks) socket.write(chunk);
      socket.end();
    };
    const socket = tls
      ? connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false }, send)
      : connectTcp({ host: '127.0.0.1', port }, send);
    socket.on('error', () => resolve());
    socket.on('close', () => resolve());
    socket.resume();
  });

test('random bytes, before and after TLS, leave it serving', async () => {
  const random = seededRandom(7);
  const starts = [
    '',
    'GET / HTTP/1.1\r\n',
    'GET /contract HTTP/1.1\r\nUpgrade: websocket\r\n',
    'PRI * HTTP/2.0\r\n\r\n',
  ];
  for (let round = 0; round < 60; round += 1) {
    const bytes = randomBytes(1 + random.below(4096));
    const start = Buffer.from(starts[random.below(starts.length)] ?? '');
    await throwAt(serving.port, [start, bytes], round % 2 === 0);
  }
  expect((await ask(serving, '/', { headers: { cookie } })).status).toBe(200);
});

test('a port that is in use is reported in one line', async () => {
  const { startServe } = await import('../../main/serve/index.ts');
  const { silentLog } = await import('../../core/base/log.ts');
  const error: unknown = await startServe({
    dataDirectory: serving.dataDirectory,
    pagesDirectory: `${serving.dataDirectory}/pages`,
    handlers: {},
    extensionPage: () => Promise.resolve(undefined),
    clock: manualClock(),
    log: silentLog,
    port: serving.port,
  }).catch((e: unknown) => e);
  expect(error).toMatchObject({ reason: 'Unavailable' });
  expect((error as Error).message).toBe(
    `cannot listen on 127.0.0.1:${serving.port}: it is already in use; choose another with --port`,
  );
});

test('a console that was never built is reported in one line', async () => {
  const error: unknown = await startTestServing({ pagesDirectory: '/nowhere' }).catch((e: unknown) => e);
  expect((error as Error).message).toBe('the console is not built: cannot read /nowhere');
});
