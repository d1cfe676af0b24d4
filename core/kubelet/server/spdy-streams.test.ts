import tls from 'node:tls';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { container, pod } from '../testing/world.ts';
import { serving, type Serving } from '../testing/serving.ts';
import { rawWebSocket } from '../testing/raw-websocket.ts';
import { SpdyClient } from '../testing/spdy-client.ts';

let kubelet: Serving;
beforeAll(async () => {
  kubelet = await serving([pod({ containers: [container('app', { ports: [{ containerPort: 8080 }] })] })]);
});
afterAll(() => kubelet.stop());

/** Asks for an upgrade by hand; the head of the answer, the connection, and what came after the head. */
const upgrade = async (method: string, path: string, headers: readonly string[]) => {
  const { host, port } = kubelet;
  const socket = tls.connect({ host, port, ...kubelet.tls });
  await once(socket, 'secureConnect');
  socket.write(
    `${[`${method} ${path} HTTP/1.1`, 'Host: kubelet', 'Connection: Upgrade', ...headers].join('\r\n')}\r\n\r\n`,
  );
  let bytes: Buffer = Buffer.alloc(0);
  while (!bytes.includes('\r\n\r\n'))
    bytes = Buffer.concat([bytes, ((await once(socket, 'data')) as [Buffer])[0]]);
  const end = bytes.indexOf('\r\n\r\n') + 4;
  return { head: bytes.subarray(0, end).toString(), socket, rest: bytes.subarray(end) };
};

const spdy = (path: string, protocol: string) =>
  upgrade('POST', path, ['Upgrade: SPDY/3.1', `X-Stream-Protocol-Version: ${protocol}`]);

test('a command runs over SPDY with its input, output, errors and exit code', async () => {
  const command = ['sh', '-c', 'cat; echo bad >&2; exit 7'].map(
    (word) => `command=${encodeURIComponent(word)}`,
  );
  const { head, socket, rest } = await spdy(
    `/exec/default/web/app?input=1&output=1&error=1&${command.join('&')}`,
    'v4.channel.k8s.io',
  );
  const client = new SpdyClient(socket, rest);
  expect(head).toContain('HTTP/1.1 101 Switching Protocols');
  expect(head).toContain('X-Stream-Protocol-Version: v4.channel.k8s.io');
  const error = await client.open({ streamtype: 'error' });
  const stdin = await client.open({ streamtype: 'stdin' });
  const stdout = await client.open({ streamtype: 'stdout' });
  const stderr = await client.open({ streamtype: 'stderr' });
  client.send(stdin, 'typed', true);
  await client.until(() => client.isClosed);
  expect([client.stream(stdout).text, client.stream(stderr).text]).toEqual(['typed', 'bad\n']);
  expect(JSON.parse(client.stream(error).text)).toMatchObject({
    status: 'Failure',
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: '7' }] },
  });
  expect([stdout, stderr, error].map((id) => client.stream(id).isEnded)).toEqual([true, true, true]);
});

test('a protocol that no one speaks is refused with what there is', async () => {
  const { head, socket } = await spdy('/exec/default/web/app?output=1&command=ls', 'v9.channel.k8s.io');
  expect(head).toContain('HTTP/1.1 403 Forbidden');
  expect(head).toContain('X-Accepted-Stream-Protocol-Versions: v4.channel.k8s.io');
  socket.destroy();
});

const fetchThrough = async (client: SpdyClient, requestId: string, port: number) => {
  const error = await client.open({ streamtype: 'error', port: String(port), requestid: requestId });
  const data = await client.open({ streamtype: 'data', port: String(port), requestid: requestId });
  client.send(error, '', true);
  client.send(data, 'GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n');
  return { error, data };
};

test('ports are forwarded over SPDY, several at the same time, and a closed one says so', async () => {
  const { socket, rest } = await spdy('/portForward/default/web', 'portforward.k8s.io');
  const client = new SpdyClient(socket, rest);
  const first = await fetchThrough(client, '0', 8080);
  const second = await fetchThrough(client, '1', 8080);
  const closed = await fetchThrough(client, '2', 9);
  await client.until(() => client.stream(first.data).isEnded && client.stream(second.data).isEnded);
  await client.until(() => client.stream(closed.error).isEnded);
  for (const { data } of [first, second]) expect(client.stream(data).text).toContain('"pod":"web"');
  expect(client.stream(closed.error).text).toMatch(
    /^error forwarding port 9 to pod web, uid \S+: dial tcp4 127.0.0.1:9: connect: connection refused$/,
  );
  client.close();
});

test('SPDY is tunnelled through a WebSocket', async () => {
  const { head, socket, rest } = await upgrade('GET', '/portForward/default/web', [
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    'Sec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io',
  ]);
  expect(head).toContain('Sec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io');
  const client = new SpdyClient(rawWebSocket(socket, rest));
  const { data } = await fetchThrough(client, '0', 8080);
  await client.until(() => client.stream(data).isEnded);
  expect(client.stream(data).text).toContain('"path":"/x"');
  client.close();
});
