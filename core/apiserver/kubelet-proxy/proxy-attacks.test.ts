import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import type { GroupResource, KubernetesObject } from '../../api/meta/index.ts';
import type { Connection } from '../registry/subresources/kubelet-port.ts';
import { RequestContext } from '../server/context.ts';
import { fakeContext, type FakeRequest, type Sent } from '../server/testing/fake-context.ts';
import { createKubeletProxy } from './kubelet-proxy.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

interface Seen {
  readonly line: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A backend in plain text that notes what it is asked and answers as told. */
const startBackend = async (
  answer: (reply: ServerResponse) => void = (reply) => reply.end('ok'),
): Promise<{ port: number; seen: Seen[] }> => {
  const seen: Seen[] = [];
  const server = createServer((message, reply) => {
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      seen.push({
        line: `${message.method} ${message.url}`,
        headers: message.headers,
        body: Buffer.concat(chunks).toString(),
      });
      answer(reply);
    });
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, seen };
};

const NODE = {
  metadata: { name: 'n1' },
  status: { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }] },
};
const pod = (name = 'web', ip = '127.0.0.1'): KubernetesObject => ({
  metadata: { namespace: 'default', name },
  spec: { nodeName: 'n1' },
  status: { podIP: ip, podIPs: [{ ip }] },
});

const proxyOver = (objects: Readonly<Record<string, readonly KubernetesObject[]>> = {}) => {
  const of = ({ resource }: GroupResource): readonly KubernetesObject[] =>
    resource === 'nodes' ? [NODE] : (objects[resource] ?? []);
  return createKubeletProxy({
    reader: {
      get: (resource, _namespace, name) =>
        Promise.resolve(of(resource).find(({ metadata }) => metadata?.name === name)),
      list: (resource) => Promise.resolve(of(resource)),
    },
    random: seededRandom(7),
    advertiseAddress: '127.0.0.1',
    tls: () => ({}),
    addressTypes: ['InternalIP'],
    timeoutMs: 5000,
  });
};

const POD_PROXY = '/api/v1/namespaces/default/pods/web/proxy';
const askPod = async (
  port: number,
  subpath: string,
  request: Partial<FakeRequest> = {},
  overrides: Partial<RequestContext['request']> = {},
): Promise<Sent> => {
  const { context, sent } = fakeContext({ url: `${POD_PROXY}${subpath}`, ...request });
  const { response, info, auditId, startedAtMs } = context;
  const changed = new RequestContext({
    request: { ...context.request, ...overrides },
    response,
    info,
    auditId,
    startedAtMs,
  });
  const connection: Connection = { to: 'pod-proxy', pod: pod(), port: String(port), scheme: '' };
  await proxyOver().connect(connection, subpath.split('?')[0]!, changed);
  return sent;
};

test('CR and LF in a path never reach the request line of a backend', async () => {
  const { port, seen } = await startBackend();
  const smuggled = '/ok HTTP/1.1\r\nHost: x\r\n\r\nPOST /run/default/web/c?cmd=id HTTP/1.1\r\nX: ';
  await expect(askPod(port, smuggled)).rejects.toMatchObject({ code: 400 });
  expect(seen).toEqual([]);
});

test('paths are joined with one slash, and the query stays as it was sent', async () => {
  const { port, seen } = await startBackend();
  await askPod(port, '/healthz?a=b%20c+d');
  await askPod(port, '//a/..//b/');
  expect(seen.map(({ line }) => line)).toEqual(['GET /healthz?a=b%20c+d', 'GET /b/']);
});

test('a proxy that is named without a slash is redirected to where relative links work', async () => {
  const { port, seen } = await startBackend();
  const sent = await askPod(port, '', { url: `${POD_PROXY}?a=b` });
  expect([sent.code, sent.headers.get('location'), seen]).toEqual([301, `${POD_PROXY}/?a=b`, []]);
});

test('credentials and headers of the connection stay here, in both directions', async () => {
  const { port, seen } = await startBackend((reply) => {
    reply.setHeader('connection', 'close, x-hop');
    reply.setHeader('x-hop', 'backend');
    reply.setHeader('access-control-allow-origin', '*');
    reply.setHeader('location', `http://127.0.0.1:${port}/next`);
    reply.setHeader('set-cookie', ['a=1', 'b=2']);
    reply.statusCode = 302;
    reply.end();
  });
  const sent = await askPod(port, '/x', {
    method: 'POST',
    body: 'hello',
    headers: {
      authorization: 'Bearer secret',
      'impersonate-user': 'admin',
      'proxy-authorization': 'Basic x',
      connection: 'keep-alive, X-Named',
      'x-named': 'hop',
      te: 'trailers',
      'content-length': '4096',
      expect: '100-continue',
      'x-forwarded-for': '192.0.2.7',
      cookie: 'kept=1',
    },
  });
  const { headers, body } = seen[0]!;
  expect([headers, body]).toEqual([
    {
      cookie: 'kept=1',
      'x-forwarded-for': '192.0.2.7, 127.0.0.1',
      host: `127.0.0.1:${port}`,
      connection: 'close',
      'content-length': '5',
    },
    'hello',
  ]);
  const kept = Object.fromEntries([...sent.headers].filter(([name]) => name !== 'date'));
  expect([sent.code, kept]).toEqual([
    302,
    { location: `${POD_PROXY}/next`, 'set-cookie': ['a=1', 'b=2'], 'content-length': '0' },
  ]);
});

const UPGRADE = {
  method: 'POST',
  headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1' },
} as const;

test('a refused upgrade is answered and closes the tunnel: a second request is never sent on', async () => {
  const { port, seen } = await startBackend((reply) => {
    reply.statusCode = 403;
    reply.end('no');
  });
  const socket = new PassThrough();
  let taken = 0;
  const sent = await askPod(port, '/exec', UPGRADE, {
    isUpgrade: true,
    upgrade() {
      taken += 1;
      return { socket, head: Buffer.from('GET /pods HTTP/1.1\r\nHost: x\r\n\r\n') };
    },
  });
  expect([sent.code, sent.text(), taken, seen.map(({ line }) => line)]).toEqual([
    403,
    'no',
    0,
    ['POST /exec'],
  ]);
});

test('a backend that answers an upgrade with success and no switch is an error', async () => {
  const { port } = await startBackend();
  const asked = askPod(port, '/exec', UPGRADE, {
    isUpgrade: true,
    upgrade: () => ({ socket: new PassThrough(), head: Buffer.alloc(0) }),
  });
  await expect(asked).rejects.toMatchObject({
    code: 500,
    message: 'invalid upgrade response: status code 200',
  });
});

test.each([{ 'content-length': '5' }, { 'transfer-encoding': 'chunked' }])(
  'an upgrade with a body is refused: %j',
  async (more) => {
    const { port, seen } = await startBackend();
    const asked = askPod(
      port,
      '/x',
      { ...UPGRADE, headers: { ...UPGRADE.headers, ...more } },
      { isUpgrade: true },
    );
    await expect(asked).rejects.toMatchObject({ code: 400 });
    expect(seen).toEqual([]);
  },
);

test.each(['exec', 'attach'] as const)('%s without an upgrade is refused', async (to) => {
  const { context } = fakeContext({ url: '/x', method: 'POST' });
  const asked = proxyOver().connect({ to, pod: pod(), container: 'c' }, '', context);
  await expect(asked).rejects.toMatchObject({ code: 400, message: 'Upgrade request required' });
});

const SERVICE: KubernetesObject = {
  metadata: { namespace: 'default', name: 'svc' },
  spec: { ports: [{ name: 'http', port: 80 }] },
};
const slice = (port: number, endpoints: readonly object[]): KubernetesObject => ({
  metadata: { namespace: 'default', name: 'svc-1', labels: { 'kubernetes.io/service-name': 'svc' } },
  ports: [{ name: 'http', port }],
  endpoints,
});
const askService = async (port: string, endpoints: readonly object[], backendPort: number): Promise<Sent> => {
  const { context, sent } = fakeContext({ url: '/api/v1/namespaces/default/services/svc/proxy/x' });
  const proxy = proxyOver({ endpointslices: [slice(backendPort, endpoints)], pods: [pod()] });
  await proxy.connect({ to: 'service-proxy', service: SERVICE, port, scheme: '' }, '/x', context);
  return sent;
};
const TARGET = { kind: 'Pod', namespace: 'default', name: 'web' };

test.each(['80', 'http'])('a service leads to an endpoint that is its pod (port %s)', async (port) => {
  const backend = await startBackend();
  const sent = await askService(port, [{ addresses: ['127.0.0.1'], targetRef: TARGET }], backend.port);
  expect([sent.code, sent.text()]).toEqual([200, 'ok']);
});

test.each([
  ['no target', { addresses: ['127.0.0.1'] }],
  ['a pod of another namespace', { addresses: ['127.0.0.1'], targetRef: { ...TARGET, namespace: 'other' } }],
  ['a pod that is gone', { addresses: ['127.0.0.1'], targetRef: { ...TARGET, name: 'gone' } }],
  ['an address that is not its pod', { addresses: ['127.0.0.9'], targetRef: TARGET }],
  [
    'an endpoint that is not ready',
    { addresses: ['127.0.0.1'], targetRef: TARGET, conditions: { ready: false } },
  ],
])('a service does not lead to an endpoint with %s', async (_what, endpoint) => {
  const backend = await startBackend();
  await expect(askService('80', [endpoint], backend.port)).rejects.toMatchObject({
    code: 503,
    message: 'no endpoints available for service "svc"',
  });
  expect(backend.seen).toEqual([]);
});

test('a port that a service does not have is named', async () => {
  await expect(askService('81', [], 1)).rejects.toMatchObject({
    code: 503,
    message: 'no service port 81 found for service "svc"',
  });
});

test('another port of a node is asked in plain text, without the identity of this server', async () => {
  const { port, seen } = await startBackend();
  const { context, sent } = fakeContext({ url: `/api/v1/nodes/n1:${port}/proxy/metrics` });
  await proxyOver().connect(
    { to: 'node-proxy', node: NODE, port: String(port), scheme: '' },
    '/metrics',
    context,
  );
  expect([sent.code, seen.map(({ line }) => line)]).toEqual([200, ['GET /metrics']]);
});

test.each(['127.9.0.1', '169.254.169.254', '0.0.0.0', ''])(
  'a pod that claims the address %j is not connected to',
  async (ip) => {
    const { context } = fakeContext({ url: `${POD_PROXY}/x` });
    const asked = proxyOver().connect(
      { to: 'pod-proxy', pod: pod('web', ip), port: '80', scheme: '' },
      '/x',
      context,
    );
    await expect(asked).rejects.toMatchObject({ code: 400, message: 'address not allowed' });
  },
);

test.each(['0', '65536', '-1', '80x', '1e3'])('port %s of a pod is refused', async (port) => {
  const { context } = fakeContext({ url: `${POD_PROXY}/x` });
  const asked = proxyOver().connect({ to: 'pod-proxy', pod: pod(), port, scheme: '' }, '/x', context);
  await expect(asked).rejects.toMatchObject({ code: 400 });
});
