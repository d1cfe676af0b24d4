import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import type { Credential } from '../../core/pki/index.ts';
import { sendJson, type Stage, type StageResult } from '../../core/apiserver/server/index.ts';
import {
  askOver,
  authority,
  clientOf,
  openHttp2,
  PROTOCOLS,
  proxyAuthority,
  serverCredential,
  startTestServer,
  strangerAuthority,
  type TestServer,
  type TestServerOptions,
} from '../support/apiserver.ts';

const admin = clientOf(authority, 'kubernetes-admin', ['kubeadm:cluster-admins']);
const master = clientOf(authority, 'root', ['system:masters']);
const jane = clientOf(authority, 'jane', ['dev', 'ops']);
const stranger = clientOf(strangerAuthority, 'kubernetes-admin', ['system:masters']);
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

/** Answers pods with who asked, and the length of what was sent. */
const pods: Stage = {
  name: 'pods',
  async run({ request, response, info, user }): Promise<StageResult> {
    if (info.resource !== 'pods') return 'next';
    const body = request.method === 'GET' ? undefined : await request.body();
    await sendJson(response, 200, { user, ...(body && { bytes: body.byteLength }) });
    return 'done';
  },
};

const gate = () => {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
};

const text = (answer: { readonly body: Buffer }): string => answer.body.toString('utf8');
const json = (answer: { readonly body: Buffer }): Record<string, unknown> =>
  JSON.parse(text(answer)) as Record<string, unknown>;
const POD_LIST = '/api/v1/namespaces/default/pods';

test.each(PROTOCOLS)('%s: a client certificate is an identity', async (_protocol, ask) => {
  const { port, server } = await start({ handlers: [pods] });
  const answer = await ask({ port, path: POD_LIST, credential: admin, headers: { 'audit-id': 'mine' } });
  expect(json(answer)['user']).toMatchObject({
    name: 'kubernetes-admin',
    groups: ['kubeadm:cluster-admins', 'system:authenticated'],
  });
  expect([answer.code, answer.headers['audit-id'], answer.headers['cache-control']]).toEqual([
    200,
    'mine',
    'no-cache, private',
  ]);
  expect(server.traces.find('mine')).toMatchObject({ user: 'kubernetes-admin', verb: 'list', code: 200 });
  expect(server.traces.find('mine')!.stages.map(({ stage, verdict }) => `${stage} ${verdict}`)).toEqual([
    'authentication passed',
    'impersonation passed',
    'flow-control passed',
    'authorization passed',
    'endpoints passed',
    'pods answered',
  ]);
});

test.each(PROTOCOLS)(
  '%s: who brings no credentials, or those of a stranger, is unauthorized',
  async (_protocol, ask) => {
    const { port } = await start({ handlers: [pods] });
    const unauthorized = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Unauthorized',
      reason: 'Unauthorized',
      code: 401,
    };
    const answers = [
      await ask({ port, path: POD_LIST }),
      await ask({ port, path: '/readyz' }),
      await ask({ port, path: POD_LIST, credential: stranger }),
      await ask({ port, path: POD_LIST, headers: { authorization: 'Bearer nonsense' } }),
      await ask({
        port,
        path: POD_LIST,
        headers: { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' },
      }),
    ];
    expect(answers.map(json)).toEqual(answers.map(() => unauthorized));
    expect(answers.map(({ code }) => code)).toEqual(answers.map(() => 401));
  },
);

test.each(PROTOCOLS)("%s: what no rule allows is forbidden in upstream's words", async (_protocol, ask) => {
  const { port } = await start({ handlers: [pods] });
  const answer = await ask({ port, path: POD_LIST, credential: jane });
  expect(json(answer)).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message:
      'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default"',
    reason: 'Forbidden',
    details: { kind: 'pods' },
    code: 403,
  });
});

test.each(PROTOCOLS)('%s: a bound service account token is an identity', async (_protocol, ask) => {
  const { port, sign } = await start({ handlers: [pods], isAnonymousAllowed: true });
  const { token } = sign({
    namespace: 'kube-system',
    serviceAccount: { name: 'bootstrap-signer', uid: 'ServiceAccount-bootstrap-signer' },
    expirationSeconds: 600,
    pod: { name: 'signer', uid: 'Pod-signer' },
  });
  const headers = { authorization: `Bearer ${token}` };
  const forbidden = await ask({ port, path: POD_LIST, headers });
  expect(json(forbidden)['message']).toContain(
    'User "system:serviceaccount:kube-system:bootstrap-signer" cannot',
  );
  const tampered = await ask({
    port,
    path: POD_LIST,
    headers: { authorization: `Bearer ${token.slice(0, -4)}AAAA` },
  });
  expect(tampered.code).toBe(401);
});

test.each(PROTOCOLS)(
  '%s: a front proxy vouches for others, and only with its own certificate',
  async (_protocol, ask) => {
    const { port } = await start({ handlers: [pods] });
    const headers = { 'x-remote-user': 'ann', 'x-remote-group': ['system:masters', 'a, b'] };
    const trusted = clientOf(proxyAuthority, 'front-proxy-client');
    const answer = await ask({ port, path: POD_LIST, credential: trusted, headers });
    expect(json(answer)['user']).toMatchObject({
      name: 'ann',
      groups: ['system:masters', 'a, b', 'system:authenticated'],
    });
    const unknown = clientOf(proxyAuthority, 'somebody-else');
    expect((await ask({ port, path: POD_LIST, credential: unknown, headers })).code).toBe(401);
    expect((await ask({ port, path: POD_LIST, credential: jane, headers })).code).toBe(403);
  },
);

test.each(PROTOCOLS)('%s: impersonation is a right of its own', async (_protocol, ask) => {
  const { port } = await start({ handlers: [pods] });
  const headers = { 'impersonate-user': 'ann', 'impersonate-group': ['system:masters', 'x'] };
  const allowed = await ask({ port, path: POD_LIST, credential: master, headers });
  expect(json(allowed)['user']).toEqual({
    name: 'ann',
    uid: '',
    groups: ['system:masters', 'x', 'system:authenticated'],
    extra: {},
  });
  const refused = await ask({ port, path: POD_LIST, credential: jane, headers });
  expect(json(refused)['message']).toBe(
    'users "ann" is forbidden: User "jane" cannot impersonate resource "users" in API group "" at the cluster scope',
  );
});

test.each(PROTOCOLS)('%s: a body past 3 MiB is refused, declared or not', async (protocol, ask) => {
  const { port } = await start({ handlers: [pods] });
  const limit = 3 * 1024 * 1024;
  const post = (bytes: number, headers: Record<string, string> = {}) =>
    ask({ port, path: POD_LIST, method: 'POST', credential: admin, body: Buffer.alloc(bytes), headers });
  // Left alone, Node's client declares the length on HTTP/1.1 and does not on HTTP/2.
  const other: Record<string, string> =
    protocol === 'HTTP/1.1' ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(limit + 1) };
  for (const answer of [await post(limit + 1), await post(limit + 1, other)])
    expect(json(answer)).toMatchObject({
      message: 'Request entity too large: limit is 3145728',
      reason: 'RequestEntityTooLarge',
      code: 413,
    });
  expect(json(await post(limit))['bytes']).toBe(limit);
});

test.each(PROTOCOLS)(
  '%s: past the limit in flight others wait, and system:masters does not',
  async (_protocol, ask) => {
    const entered = gate();
    const leave = gate();
    let calls = 0;
    const slow: Stage = {
      name: 'slow',
      async run({ response, info }): Promise<StageResult> {
        if (info.resource !== 'pods') return 'next';
        calls += 1;
        if (calls === 1) {
          entered.open();
          await leave.opened;
        }
        await sendJson(response, 200, {});
        return 'done';
      },
    };
    const { port } = await start({ handlers: [slow], readOnlyMax: 1 });
    const first = ask({ port, path: POD_LIST, credential: admin });
    await entered.opened;
    const second = await ask({ port, path: POD_LIST, credential: admin });
    expect([second.code, second.headers['retry-after'], text(second)]).toEqual([
      429,
      '1',
      'Too many requests, please try again later.\n',
    ]);
    expect((await ask({ port, path: POD_LIST, credential: master })).code).toBe(200);
    leave.open();
    expect((await first).code).toBe(200);
    expect((await ask({ port, path: POD_LIST, credential: admin })).code).toBe(200);
  },
);

test.each(PROTOCOLS)('%s: a defect is answered as 500, and the server goes on', async (_protocol, ask) => {
  const broken: Stage = {
    name: 'broken',
    run() {
      throw new TypeError('boom');
    },
  };
  const { port, metrics } = await start({ handlers: [broken] });
  const answer = await ask({ port, path: POD_LIST, credential: admin });
  expect(json(answer)).toMatchObject({ reason: 'InternalError', code: 500 });
  expect(text(answer)).not.toContain('boom');
  expect((await ask({ port, path: '/livez', credential: admin })).code).toBe(200);
  expect(metrics.expose()).toContain('apiserver_request_panics_total 1\n');
});

test.each(PROTOCOLS)('%s: health, version and metrics are served', async (_protocol, ask) => {
  const { port } = await start();
  const get = async (path: string): Promise<string> => text(await ask({ port, path, credential: admin }));
  expect(await get('/readyz?verbose&exclude=ping')).toBe(
    '[+]ping excluded: ok\n[+]shutdown ok\nreadyz check passed\n',
  );
  expect(JSON.parse(await get('/version'))).toMatchObject({ gitVersion: 'v1.36.0' });
  expect(await get('/metrics')).toMatch(
    /^apiserver_request_total\{code="200",component="apiserver",.*verb="GET".*\} 2$/m,
  );
});

test.each(PROTOCOLS)('%s: large answers are compressed for those who can read it', async (_protocol, ask) => {
  const large: Stage = {
    name: 'large',
    async run({ response }): Promise<StageResult> {
      await response.send(200, 'application/json', 'x'.repeat(200_000));
      return 'done';
    },
  };
  const { port } = await start({ handlers: [large] });
  const zipped = await ask({
    port,
    path: POD_LIST,
    credential: admin,
    headers: { 'accept-encoding': 'gzip' },
  });
  const plain = await ask({ port, path: POD_LIST, credential: admin });
  expect([
    zipped.headers['content-encoding'],
    gunzipSync(zipped.body).byteLength,
    plain.body.byteLength,
  ]).toEqual(['gzip', 200_000, 200_000]);
});

test.each(PROTOCOLS)(
  '%s: a request that takes too long is answered with a timeout',
  async (_protocol, ask) => {
    const stuck: Stage = {
      name: 'stuck',
      async run({ request }): Promise<StageResult> {
        await new Promise((resolve) => request.signal.addEventListener('abort', resolve, { once: true }));
        return 'done';
      },
    };
    const { port } = await start({ handlers: [stuck], limits: { requestTimeoutMs: 50 } });
    const answer = await ask({ port, path: POD_LIST, credential: admin });
    expect(json(answer)).toMatchObject({
      message: 'Timeout: request did not complete within the allotted timeout',
      code: 504,
    });
  },
);

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

test('garbage is refused, in clear and inside of TLS, and the server goes on', async () => {
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

  const stopped = server.shutdown({ delayMs: 200, graceMs: 5000 });
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

test('what does not finish within the grace is cut', async () => {
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
  await server.shutdown({ graceMs: 5000 });
  expect(server.traces.list().map(({ code }) => code)).toEqual([101, 401]);
});

test('connections past the limit are dropped, and those that are open go on', async () => {
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
