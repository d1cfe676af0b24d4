import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect as connectTcp, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import { systemClock } from '../../base/node/clock.ts';
import { systemRandom } from '../../base/node/random.ts';
import { isNotFound } from '../../api/meta/status.ts';
import { notFound } from '../../api/meta/status-errors.ts';
import type { OwnedClient } from '../client.ts';
import { CONFIG_MAP } from '../kinds.ts';
import {
  answerJson,
  peerNameOf,
  startServer,
  testAuthority,
  type AnyResponse,
  type TestServer,
  type TestServerOptions,
} from '../testing/https-server.ts';
import type { ClientConfig } from './config.ts';
import { connect, type ConnectOptions } from './connect.ts';
import { isFenced } from './errors.ts';
import { isTransportError, type TransportReason } from './transport.ts';
import { UnansweredWrites } from './unanswered-writes.ts';

const authority = testAuthority();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const serve = async (options: Omit<TestServerOptions, 'authority'>): Promise<TestServer> => {
  const server = await startServer({ authority, ...options });
  closing.push(() => server.close());
  return server;
};
const open = (config: ClientConfig, more: Partial<ConnectOptions> = {}): OwnedClient => {
  const client = connect(config, {
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    userAgent: 'test/1',
    ...more,
  });
  closing.push(() => client.dispose());
  return client;
};
const certificateOf = (name: string): ClientConfig['auth'] => {
  const { certificatePem, privateKeyPem } = authority.client(name);
  return { certificate: { data: certificatePem }, key: { data: privateKeyPem } };
};
const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'client-'));
  closing.push(() => rmSync(path, { recursive: true }));
  return path;
};
const failsAs = (reason: TransportReason) => (error: unknown) =>
  isTransportError(error) && error.reason === reason;
const WAIT = { timeout: 30_000 };
const GET = { method: 'GET', path: '/x' } as const;

test.each([true, false])(
  'many requests share connections and show the certificate (http2 %s)',
  async (http2) => {
    const server = await serve({
      http2,
      handle: (request, response) =>
        answerJson(response, [request.httpVersion, peerNameOf(request), request.headers['user-agent']]),
    });
    const client = open(server.config({ auth: certificateOf('system:admin') }));
    await client.json(GET);
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.json(GET)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(
      new Set([JSON.stringify([http2 ? '2.0' : '1.1', 'system:admin', 'test/1'])]),
    );
    expect(server.connectionsCount).toBeLessThanOrEqual(http2 ? 1 : 20);
  },
);

test.each([true, false])('bodies, statuses and failures arrive (http2 %s)', async (http2) => {
  const seen: string[] = [];
  const server = await serve({
    http2,
    handle: (request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        seen.push(`${request.method} ${request.url} ${body.length}`);
        if (request.method === 'GET')
          answerJson(response, notFound({ group: '', resource: 'configmaps' }, 'a').status, 404);
        else answerJson(response, JSON.parse(body), 201);
      });
    },
  });
  const maps = open(server.config()).resource(CONFIG_MAP, 'default');
  const data = { x: 'y'.repeat(500_000) };
  expect((await maps.create({ metadata: { name: 'a' }, data })).data).toEqual(data);
  await expect(maps.get('a')).rejects.toSatisfy(isNotFound);
  expect(seen.map((line) => line.replace(/\d+$/, 'n'))).toEqual([
    'POST /api/v1/namespaces/default/configmaps n',
    'GET /api/v1/namespaces/default/configmaps/a n',
  ]);
});

test.each([true, false])(
  'a watch streams, and says when its connection is lost (http2 %s)',
  async (http2) => {
    let watching: AnyResponse | undefined;
    const server = await serve({
      http2,
      handle: (_, response) => {
        watching = response;
        response.setHeader('content-type', 'application/json');
        const event = { type: 'ADDED', object: { metadata: { name: 'ä', resourceVersion: '1' } } };
        // Torn within a character: lines and letters are put together again.
        const bytes = Buffer.from(`${JSON.stringify(event)}\n`);
        const cut = bytes.indexOf(0xc3) + 1;
        (response as { write(chunk: Buffer): void }).write(bytes.subarray(0, cut));
        setImmediate(() => (response as { write(chunk: Buffer): void }).write(bytes.subarray(cut)));
      },
    });
    const watch = await open(server.config()).resource(CONFIG_MAP).watch();
    const names: string[] = [];
    const reading = (async () => {
      for await (const { object } of watch) {
        names.push(object.metadata.name);
        const response = watching as unknown as { stream?: { session: { destroy(): void } }; socket: Socket };
        if (http2) response.stream!.session.destroy();
        else response.socket.destroy();
      }
    })();
    await expect(reading).rejects.toSatisfy(failsAs('ConnectionLost'));
    expect(names).toEqual(['ä']);
  },
);

test('an aborted request ends, on the server too', async () => {
  const stop = new AbortController();
  let onEnd: () => void;
  const ended = new Promise<void>((resolve) => (onEnd = resolve));
  const server = await serve({
    handle: (request) => {
      request.once('close', () => onEnd());
      stop.abort(new Error('enough'));
    },
  });
  const answer = open(server.config()).json({ ...GET, signal: stop.signal });
  await expect(answer).rejects.toThrow('enough');
  await ended;
});

test.each([true, false])(
  'behind a fence that counts changes, reads end and changes are answered (http2 %s)',
  async (http2) => {
    const held: AnyResponse[] = [];
    let cancelled = 0;
    const server = await serve({
      http2,
      handle(request, response) {
        if (request.method === 'POST') held.push(response);
        request.on('close', () => (cancelled += Number(!response.writableEnded)));
      },
    });
    const [fence, writes] = [new AbortController(), new UnansweredWrites()];
    const client = open(server.config()).fenced(fence.signal, { writes });
    const read = expect(client.json(GET)).rejects.toSatisfy(isFenced);
    const change = client.json({ ...GET, method: 'POST', body: {} });
    await vi.waitUntil(() => held.length === 1, WAIT);
    expect(writes.count).toBe(1);
    fence.abort();
    await read;
    await vi.waitUntil(() => cancelled === 1, WAIT);
    answerJson(held[0]!, 'done');
    expect(await change).toBe('done');
    await writes.settled();
    expect([writes.count, cancelled]).toEqual([0, 1]);
  },
);

test('reads are repeated when their connection is lost, writes are not', async () => {
  const methods: string[] = [];
  const server = await serve({
    handle: (request, response) => {
      methods.push(request.method!);
      if (methods.length % 2 === 1)
        (response as unknown as { stream: { session: { destroy(): void } } }).stream.session.destroy();
      else answerJson(response, 'ok');
    },
  });
  const client = open(server.config());
  expect(await client.json(GET)).toBe('ok');
  await expect(client.json({ ...GET, method: 'POST', body: {} })).rejects.toSatisfy(
    failsAs('ConnectionLost'),
  );
  expect(methods).toEqual(['GET', 'GET', 'POST']);
});

test('a server that says GOAWAY is asked on a new connection, and what is in progress ends', async () => {
  const held: AnyResponse[] = [];
  const server = await serve({
    handle: (request, response) => {
      if (request.url === '/slow') held.push(response);
      else answerJson(response, 'ok');
    },
  });
  const client = open(server.config());
  const slow = client.json({ method: 'GET', path: '/slow' });
  await client.json(GET);
  for (const session of server.sessions) session.goaway();
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(await client.json(GET)).toBe('ok');
  answerJson(held[0]!, 'late');
  expect(await slow).toBe('late');
  expect(server.connectionsCount).toBe(2);
});

test('more requests than a connection takes go over further ones', async () => {
  const held: AnyResponse[] = [];
  const server = await serve({
    streamsMax: 2,
    handle: (_, response) => {
      held.push(response);
      if (held.length === 5) for (const each of held) answerJson(each, 'ok');
    },
  });
  const client = open(server.config());
  const answers = await Promise.all(Array.from({ length: 5 }, () => client.json(GET)));
  expect(answers).toEqual(Array(5).fill('ok'));
  expect(server.connectionsCount).toBeGreaterThanOrEqual(3);
});

test('when a server is gone the next address is used', async () => {
  const gone = await serve({ handle: (_, response) => answerJson(response, 'first') });
  const other = await serve({ handle: (_, response) => answerJson(response, 'second') });
  const client = open(gone.config({ servers: [gone.url, other.url] }));
  expect(await client.json(GET)).toBe('first');
  await gone.close();
  expect(await client.json(GET)).toBe('second');
});

test('an unreachable server and a wrong server are distinct errors', async () => {
  const server = await serve({ hosts: ['api.test'], handle: (_, response) => answerJson(response, 'ok') });
  await expect(open(server.config()).json(GET)).rejects.toSatisfy(failsAs('TlsFailed'));
  expect(await open(server.config({ tlsServerName: 'api.test' })).json(GET)).toBe('ok');
  expect(await open(server.config({ insecureSkipTlsVerify: true })).json(GET)).toBe('ok');
  const foreign = testAuthority().root.certificatePem;
  const distrusting = open(server.config({ authority: { data: foreign }, tlsServerName: 'api.test' }));
  await expect(distrusting.json(GET)).rejects.toSatisfy(failsAs('TlsFailed'));
  const config = server.config();
  await server.close();
  await expect(open(config).json(GET)).rejects.toSatisfy(failsAs('ConnectionRefused'));
  const unknown = open({ ...config, servers: ['https://no.such.host.invalid:6443'] });
  await expect(unknown.json(GET)).rejects.toSatisfy(failsAs('NameNotResolved'));
});

test('a request that is not answered in time is given up', async () => {
  const server = await serve({ handle: () => undefined });
  await expect(open(server.config(), { timeoutMs: 100 }).json(GET)).rejects.toSatisfy(failsAs('TimedOut'));
});

test('a renewed certificate and a renewed token are used without a restart', async () => {
  const server = await serve({
    handle: (request, response) => answerJson(response, [peerNameOf(request), request.headers.authorization]),
  });
  const path = folder();
  const file = (name: string): string => join(path, name);
  const write = (name: string): void => {
    const { certificatePem, privateKeyPem } = authority.client(name);
    writeFileSync(file('crt'), certificatePem);
    writeFileSync(file('key'), privateKeyPem);
    writeFileSync(file('token'), `token-of-${name}\n`);
  };
  write('old');
  let offsetMs = 0;
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + offsetMs };
  const auth = { certificate: { file: file('crt') }, key: { file: file('key') }, tokenFile: file('token') };
  const client = open(server.config({ auth }), { clock });
  expect(await client.json(GET)).toEqual(['old', 'Bearer token-of-old']);
  write('new');
  expect(await client.json(GET)).toEqual(['old', 'Bearer token-of-old']);
  offsetMs = 61_000;
  expect(await client.json(GET)).toEqual(['new', 'Bearer token-of-new']);
});

test('requests go through the proxy of the configuration', async () => {
  const server = await serve({ handle: (_, response) => answerJson(response, 'ok') });
  const asked: string[] = [];
  const proxy = createServer();
  const pipes = new Set<Socket>();
  proxy.on('connect', (request, socket: Socket) => {
    asked.push(`${request.url} ${String(request.headers['proxy-authorization'])}`);
    const out = connectTcp(server.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      out.pipe(socket).pipe(out);
    });
    for (const each of [out, socket]) {
      pipes.add(each);
      each.on('error', () => undefined);
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    for (const pipe of pipes) pipe.destroy();
    proxy.close();
  });
  const { port } = proxy.address() as AddressInfo;
  const client = open(server.config({ proxyUrl: `http://me:secret@127.0.0.1:${port}` }));
  expect(await client.json(GET)).toBe('ok');
  expect(asked).toEqual([`127.0.0.1:${server.port} Basic ${Buffer.from('me:secret').toString('base64')}`]);
  const refusing = createServer((_, response) => response.writeHead(403).end());
  refusing.on('connect', (_, socket: Socket) =>
    socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'),
  );
  await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
  closing.push(() => refusing.close());
  const refused = open(
    server.config({ proxyUrl: `http://127.0.0.1:${(refusing.address() as AddressInfo).port}` }),
  );
  await expect(refused.json(GET)).rejects.toSatisfy(failsAs('ProxyFailed'));
});

test('a plugin gives the token, once until it expires or is refused', async () => {
  const path = folder();
  const count = join(path, 'count');
  writeFileSync(count, '0');
  const script = `
    const fs = require('fs');
    const n = Number(fs.readFileSync(${JSON.stringify(count)}, 'utf8')) + 1;
    fs.writeFileSync(${JSON.stringify(count)}, String(n));
    const info = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
    console.log(JSON.stringify({ apiVersion: info.apiVersion, kind: 'ExecCredential',
      status: { token: process.env.WHO + n + (info.spec.cluster ? 'c' : '') } }));`;
  let refuse = false;
  const server = await serve({
    handle: (request, response) =>
      refuse ? answerJson(response, 'no', 401) : answerJson(response, request.headers.authorization),
  });
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: process.execPath,
    args: ['-e', script],
    env: { WHO: 'me' },
    provideClusterInfo: true,
  };
  const client = open(server.config({ auth: { exec } }));
  const both = await Promise.all([client.json(GET), client.json(GET)]);
  expect(both).toEqual(['Bearer me1c', 'Bearer me1c']);
  refuse = true;
  await expect(client.json(GET)).rejects.toMatchObject({ reason: 'Unauthorized' });
  refuse = false;
  expect(await client.json(GET)).toBe('Bearer me2c');
  const missing = open(
    server.config({ auth: { exec: { ...exec, command: 'no-such-plugin', installHint: 'install it' } } }),
  );
  await expect(missing.json(GET)).rejects.toThrow('install it');
});

test('requests are counted', async () => {
  const registry = new Registry();
  const server = await serve({ handle: (_, response) => answerJson(response, 'ok') });
  await open(server.config(), { registry }).json(GET);
  const host = `127.0.0.1:${server.port}`;
  expect(registry.expose()).toContain(
    `rest_client_requests_total{code="200",host="${host}",method="GET"} 1\n`,
  );
  expect(registry.expose()).toContain(
    `rest_client_request_duration_seconds_count{host="${host}",verb="GET"} 1\n`,
  );
});
