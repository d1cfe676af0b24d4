import { connect as connectTcp } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import type { Credential } from '../../core/pki/index.ts';
import { sendJson } from '../../core/apiserver/server/response.ts';
import type { Stage, StageResult } from '../../core/apiserver/server/pipeline.ts';
import {
  askOver,
  authority,
  clientOf,
  openHttp2,
  PROTOCOLS,
  serverCredential,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from '../support/apiserver.ts';

const admin = clientOf(authority, 'kubernetes-admin', ['kubeadm:cluster-admins']);
const [[, http1], [, http2]] = PROTOCOLS;

const running: TestServer[] = [];
const start = async (options?: TestServerOptions): Promise<TestServer> => {
  const started = await startTestServer(options);
  running.push(started);
  return started;
};
afterEach(async () => {
  await Promise.all(running.splice(0).map(({ server }) => server.shutdown({ graceMs: 1 })));
});

const gate = () => {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
};

const text = (answer: { readonly body: Buffer }): string => answer.body.toString('utf8');
const json = (answer: { readonly body: Buffer }): Record<string, unknown> =>
  JSON.parse(text(answer)) as Record<string, unknown>;
const POD_LIST = '/api/v1/namespaces/default/pods';

test('a client that never finishes its headers is cut off', async () => {
  const { port } = await start({ limits: { headersTimeoutMs: 100, idleTimeoutMs: 100 } });
  const slowly = (ALPNProtocols: string[], bytes: string): Promise<string> =>
    new Promise((resolve) => {
      let received = '';
      const socket = connectTls(
        { port, host: '127.0.0.1', ca: authority.certificatePem, ALPNProtocols },
        () => socket.write(bytes),
      );
      socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(received));
    });
  expect(await slowly(['http/1.1'], 'GET / HTTP/1.1\r\nhost: x\r\n')).toMatch(/^HTTP\/1\.1 408 /);
  await slowly(['h2'], 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
});

test('garbage is refused, in clear and inside of TLS, and the server continues', async () => {
  const { port, metrics } = await start();
  const clear = new Promise<void>((resolve) => {
    const socket = connectTcp(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
  });
  const inside = (ALPNProtocols: string[]): Promise<string> =>
    new Promise((resolve) => {
      let received = '';
      const socket = connectTls(
        { port, host: '127.0.0.1', ca: authority.certificatePem, ALPNProtocols },
        () => socket.write(Buffer.from('\u0000\u0001garbage\r\n\r\n'.repeat(8))),
      );
      socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(received));
    });
  await clear;
  expect(await inside(['http/1.1'])).toMatch(/^HTTP\/1\.1 400 Bad Request/);
  await inside(['h2']);
  expect((await http2({ port, path: '/livez', credential: admin })).code).toBe(200);
  expect(metrics.expose()).toContain('apiserver_tls_handshake_errors_total 1\n');
});

test('new certificates serve new connections without a restart', async () => {
  const { port, server } = await start();
  const fingerprint = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connectTls({ port, host: '127.0.0.1', ca: authority.certificatePem }, () => {
        resolve(socket.getPeerCertificate().fingerprint256);
        socket.destroy();
      });
      socket.on('error', reject);
    });
  const session = openHttp2(port, admin);
  expect((await askOver(session, { path: '/livez' })).code).toBe(200);
  const before = await fingerprint();
  server.setCertificates({ ...serverCredential(), clientAuthoritiesPem: [authority.certificatePem] });
  expect(await fingerprint()).not.toBe(before);
  expect((await askOver(session, { path: '/livez' })).code).toBe(200);
  session.close();
});

test('a server that stops first fails readyz, ends watches, and lets requests finish', async () => {
  const watching = gate();
  const working = gate();
  const finish = gate();
  const handlers: Stage = {
    name: 'handlers',
    async run({ request, response, info }): Promise<StageResult> {
      if (info.verb === 'watch') {
        response.begin(200);
        await response.write('{"type":"ADDED"}\n');
        watching.open();
        await new Promise((resolve) => request.draining.addEventListener('abort', resolve, { once: true }));
        await response.end();
        return 'done';
      }
      working.open();
      await finish.opened;
      await sendJson(response, 200, { late: true });
      return 'done';
    },
  };
  const { port, server } = await start({ handlers: [handlers] });
  const session = openHttp2(port, admin);
  const goaway = new Promise<void>((resolve) => session.once('goaway', () => resolve()));
  const watch = askOver(session, { path: `${POD_LIST}?watch=1` });
  const work = http1({ port, path: POD_LIST, credential: admin });
  const probe = openHttp2(port, admin);
  await Promise.all([watching.opened, working.opened, askOver(probe, { path: '/livez' })]);

  const stopped = server.shutdown({ delayMs: 2000, graceMs: 60_000 });
  const notReady = await askOver(probe, { path: '/readyz' });
  expect([notReady.code, text(notReady)]).toEqual([
    500,
    '[+]ping ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n',
  ]);
  expect(text(await watch)).toBe('{"type":"ADDED"}\n');
  await goaway;
  finish.open();
  expect(json(await work)).toEqual({ late: true });
  await stopped;
  await expect(http1({ port, path: '/livez', credential: admin })).rejects.toThrow('ECONNREFUSED');
});

test('requests that exceed the grace period are ended', async () => {
  const working = gate();
  const stuck: Stage = {
    name: 'stuck',
    async run({ request }): Promise<StageResult> {
      working.open();
      await new Promise((resolve) => request.signal.addEventListener('abort', resolve, { once: true }));
      return 'done';
    },
  };
  const { port, server } = await start({ handlers: [stuck] });
  const answers = [http1, http2].map((ask) =>
    expect(ask({ port, path: POD_LIST, credential: admin })).rejects.toThrow(),
  );
  await working.opened;
  await server.shutdown({ graceMs: 50 });
  await Promise.all(answers);
});

test('a slow reader holds back the writer of a stream', async () => {
  let written = 0;
  const gone = gate();
  const endless: Stage = {
    name: 'endless',
    async run({ response }): Promise<StageResult> {
      response.begin(200);
      try {
        for (;;) {
          await response.write(Buffer.alloc(64 * 1024));
          written += 64 * 1024;
        }
      } finally {
        gone.open();
      }
    },
  };
  const { port } = await start({ handlers: [endless] });
  const session = openHttp2(port, admin);
  const stream = session.request({ ':path': `${POD_LIST}?watch=1` });
  await new Promise((resolve) => stream.once('response', resolve));
  stream.pause();
  let before = -1;
  while (written !== before) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(written).toBeLessThan(8 * 1024 * 1024);
  stream.on('error', () => undefined);
  session.destroy();
  await gone.opened;
});

test('a connection that is upgraded belongs to its handler, and one that is refused gets an answer', async () => {
  const echo: Stage = {
    name: 'echo',
    async run({ request }): Promise<StageResult> {
      const upgraded = request.upgrade();
      if (!upgraded) return 'next';
      upgraded.socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n',
      );
      upgraded.socket.write(upgraded.head);
      upgraded.socket.pipe(upgraded.socket);
      await new Promise((resolve) => request.signal.addEventListener('abort', resolve, { once: true }));
      return 'done';
    },
  };
  const { port, server } = await start({ handlers: [echo] });
  const talk = (credential: Credential | undefined, last: string): Promise<string> =>
    new Promise((resolve) => {
      let received = '';
      const identity = credential && { cert: credential.certificatePem, key: credential.privateKeyPem };
      const socket = connectTls(
        { port, host: '127.0.0.1', ca: authority.certificatePem, ALPNProtocols: ['http/1.1'], ...identity },
        () =>
          socket.write(
            `POST ${POD_LIST}/a/exec HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello`,
          ),
      );
      socket.on('data', (chunk: Buffer) => {
        received += chunk.toString('latin1');
        if (received.endsWith(last)) socket.end();
      });
      socket.on('close', () => resolve(received));
    });
  expect(await talk(admin, 'hello')).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n.*\r\n\r\nhello$/s);
  expect(await talk(undefined, '\u0000')).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n.*"code":401\}\n$/s);
  await server.shutdown({ graceMs: 60_000 });
  expect(server.traces.list().map(({ code }) => code)).toEqual([101, 401]);
});

test('connections past the limit are dropped, and those that are open continue', async () => {
  const { port } = await start({ limits: { connectionsMax: 1 } });
  const session = openHttp2(port, admin);
  expect((await askOver(session, { path: '/livez' })).code).toBe(200);
  await expect(http1({ port, path: '/livez', credential: admin })).rejects.toThrow();
  expect((await askOver(session, { path: '/livez' })).code).toBe(200);
  session.close();
});

test.each(PROTOCOLS)('%s: headers past the limit are refused', async (_protocol, ask) => {
  const { port } = await start({ limits: { headerBytesMax: 16 * 1024 } });
  const headers = { 'x-large': 'a'.repeat(32 * 1024) };
  expect((await ask({ port, path: '/livez', credential: admin, headers })).code).toBe(431);
});

test('suites with CBC, without forward secrecy, and versions before TLS 1.2 are refused', async () => {
  const { port } = await start();
  const handshake = (options: ConnectionOptions): Promise<string> =>
    new Promise((resolve) => {
      const socket = connectTls({ port, host: '127.0.0.1', ca: authority.certificatePem, ...options }, () => {
        resolve(socket.getCipher().name);
        socket.destroy();
      });
      socket.on('error', () => resolve('refused'));
    });
  const old = { maxVersion: 'TLSv1.2' } as const;
  expect(
    await Promise.all([
      handshake({ ...old, ciphers: 'ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA' }),
      handshake({ ...old, ciphers: 'AES128-SHA:AES128-GCM-SHA256' }),
      handshake({ minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' }),
      handshake({ ...old }).then((name) => /^ECDHE-.*(GCM|CHACHA20)/.test(name)),
    ]),
  ).toEqual(['refused', 'refused', 'refused', true]);
});
