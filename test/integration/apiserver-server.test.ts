import { gunzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { sendJson } from '../../core/apiserver/server/response.ts';
import type { Stage, StageResult } from '../../core/apiserver/server/pipeline.ts';
import {
  authority,
  clientOf,
  PROTOCOLS,
  proxyAuthority,
  startTestServer,
  strangerAuthority,
  type TestServer,
  type TestServerOptions,
} from '../support/apiserver.ts';

const admin = clientOf(authority, 'kubernetes-admin', ['kubeadm:cluster-admins']);
const master = clientOf(authority, 'root', ['system:masters']);
const jane = clientOf(authority, 'jane', ['dev', 'ops']);
const stranger = clientOf(strangerAuthority, 'kubernetes-admin', ['system:masters']);

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
