import { once } from 'node:events';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../base/node/clock.ts';
import { seededRandom } from '../../base/random.ts';
import type { KubernetesObject } from '../../api/meta/index.ts';
import { alternativeNames, createAuthority, issueLeaf, openAuthority } from '../../pki/index.ts';
import { RequestContext } from '../server/context.ts';
import { fakeContext } from '../server/testing/fake-context.ts';
import { createKubeletProxy } from './kubelet-proxy.ts';

const root = createAuthority({ commonName: 'test', clock: systemClock });
const leaf = issueLeaf(openAuthority(root), {
  subject: { commonName: 'kubelet' },
  usages: ['server', 'client'],
  alternativeNames: alternativeNames(['127.0.0.1']),
  clock: systemClock,
});

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n';

/** A kubelet that agrees to every upgrade and then says everything back. */
const startKubelet = async (): Promise<{ port: number; heads: string[]; sockets: TLSSocket[] }> => {
  const heads: string[] = [];
  const sockets: TLSSocket[] = [];
  const server = createTlsServer({ cert: leaf.certificatePem, key: leaf.privateKeyPem }, (socket) => {
    sockets.push(socket);
    socket.on('error', () => socket.destroy());
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      if (heads.length > 0) {
        socket.write(chunk);
        return;
      }
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      heads.push(text.slice(0, end));
      socket.write(`${SWITCHED}${text.slice(end + 4)}`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, heads, sockets };
};

/** Both ends of a connection: the client's, and the one that a request's upgrade takes over. */
const connected = async (): Promise<{ client: Socket; socket: Socket }> => {
  const server = createTcpServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [socket] = await accepted;
  closing.push(() => {
    client.destroy();
    server.close();
  });
  return { client, socket };
};

const POD: KubernetesObject = { metadata: { namespace: 'default', name: 'web' }, spec: { nodeName: 'n1' } };
const nodeAt = (port: number): KubernetesObject => ({
  metadata: { name: 'n1' },
  status: {
    addresses: [
      { type: 'Hostname', address: 'nowhere.invalid' },
      { type: 'InternalIP', address: '127.0.0.1' },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  },
});

const proxyTo = (node: KubernetesObject | undefined) =>
  createKubeletProxy({
    reader: { get: () => Promise.resolve(node), list: () => Promise.resolve([]) },
    random: seededRandom(1),
    advertiseAddress: '127.0.0.1',
    tls: () => ({ ca: root.certificatePem }),
    addressTypes: ['InternalIP', 'Hostname'],
    timeoutMs: 5000,
  });

const forwarding = (
  query: string,
  upgrade: { readonly socket: Socket; readonly head: Uint8Array } | undefined,
): RequestContext => {
  const { context } = fakeContext({
    method: 'POST',
    url: `/api/v1/namespaces/default/pods/web/portforward${query}`,
    headers: {
      connection: 'Upgrade',
      upgrade: 'SPDY/3.1',
      authorization: 'Bearer secret',
      'x-stream-protocol-version': 'portforward.k8s.io',
    },
  });
  const { response, info, auditId, startedAtMs } = context;
  const request = {
    ...context.request,
    protocol: 'HTTP/1.1' as const,
    isUpgrade: upgrade !== undefined,
    upgrade: () => upgrade,
  };
  return new RequestContext({ request, response, info, auditId, startedAtMs });
};

const textFrom = async (socket: Socket, until: string): Promise<string> => {
  let text = '';
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (text.includes(until)) break;
  }
  return text;
};

test('port forwarding reaches the kubelet of the pod, and bytes pass in both directions', async () => {
  const kubelet = await startKubelet();
  const { client, socket } = await connected();
  const upgrade = { socket, head: Buffer.from('first ') };
  const over = proxyTo(nodeAt(kubelet.port)).connect(
    { to: 'portforward', pod: POD },
    '',
    forwarding('', upgrade),
  );
  client.write('second');
  const answer = await textFrom(client, 'second');
  client.destroy();
  await over;
  const [line, ...headers] = kubelet.heads[0]!.split('\r\n');
  expect([answer, line, headers.map((header) => header.toLowerCase()).sort()]).toEqual([
    `${SWITCHED}first second`,
    'POST /portForward/default/web HTTP/1.1',
    [
      'connection: upgrade',
      'content-length: 0',
      `host: 127.0.0.1:${kubelet.port}`,
      'upgrade: spdy/3.1',
      'x-forwarded-for: 127.0.0.1',
      'x-stream-protocol-version: portforward.k8s.io',
    ],
  ]);
});

test("ports in the query are reported in the kubelet's words", async () => {
  const kubelet = await startKubelet();
  const { client, socket } = await connected();
  const context = forwarding('?ports=80,81&ports=82', { socket, head: Buffer.alloc(0) });
  const over = proxyTo(nodeAt(kubelet.port)).connect({ to: 'portforward', pod: POD }, '', context);
  await textFrom(client, '\r\n\r\n');
  client.destroy();
  await over;
  expect(kubelet.heads[0]!.split('\r\n')[0]).toBe(
    'POST /portForward/default/web?port=80&port=81&port=82 HTTP/1.1',
  );
});

test('a kubelet that hangs up ends the connection of the client', async () => {
  const kubelet = await startKubelet();
  const { client, socket } = await connected();
  const context = forwarding('', { socket, head: Buffer.alloc(0) });
  const over = proxyTo(nodeAt(kubelet.port)).connect({ to: 'portforward', pod: POD }, '', context);
  await textFrom(client, '\r\n\r\n');
  const closed = once(client, 'close');
  client.resume();
  kubelet.sockets[0]!.destroy();
  await Promise.all([over, closed]);
  expect(client.destroyed).toBe(true);
});

test('a request that cannot be upgraded is refused, and the kubelet is left alone', async () => {
  const kubelet = await startKubelet();
  const refused = proxyTo(nodeAt(kubelet.port)).connect(
    { to: 'portforward', pod: POD },
    '',
    forwarding('', undefined),
  );
  await expect(refused).rejects.toMatchObject({ code: 400, message: 'Upgrade request required' });
  expect(kubelet.heads).toEqual([]);
});

test('a kubelet that does not listen is reported with its address', async () => {
  const { socket } = await connected();
  const context = forwarding('', { socket, head: Buffer.alloc(0) });
  const { port } = await startKubelet();
  closing.pop()!();
  await expect(
    proxyTo(nodeAt(port)).connect({ to: 'portforward', pod: POD }, '', context),
  ).rejects.toMatchObject({
    code: 500,
    message: `error dialing backend: dial tcp 127.0.0.1:${port}: connect: connection refused`,
  });
});

test('a pod whose node is gone cannot be reached', async () => {
  const context = forwarding('', undefined);
  await expect(
    proxyTo(undefined).connect({ to: 'portforward', pod: POD }, '', context),
  ).rejects.toMatchObject({
    reason: 'NotFound',
    message: 'nodes "n1" not found',
  });
});
