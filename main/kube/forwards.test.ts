import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect as dial, type AddressInfo, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { fakeHost } from '../../core/contract/fake.ts';
import { silentLog } from '../../core/base/log.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { systemRandom } from '../../core/base/node/random.ts';
import { connect } from '../../core/client/index.ts';
import { type PortForward, say, verbatim } from '../../core/contract/index.ts';
import type { ClusterConnection } from './connections.ts';
import { createForwardHandlers } from './forwards.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const pod = { metadata: { name: 'web-1', namespace: 'web', uid: 'u', resourceVersion: '1' } };

/** An API server with one pod, whose kubelet is played by `serve`. */
const startApi = async (
  serve: (socket: WebSocket, ports: string | null, path: string) => void,
  phase = 'Running',
  listed: () => object = () => pod,
) => {
  const watches: ServerResponse[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? '', 'http://api');
    response.setHeader('content-type', 'application/json');
    if (url.searchParams.get('watch')) {
      response.flushHeaders();
      watches.push(response);
    } else if (url.pathname.endsWith('/pods'))
      response.end(
        JSON.stringify({
          kind: 'PodList',
          apiVersion: 'v1',
          metadata: { resourceVersion: '1' },
          items: [{ ...listed(), status: { phase, conditions: [{ type: 'Ready', status: 'True' }] } }],
        }),
      );
    else response.end(JSON.stringify({ apiVersion: 'v1', kind: 'Pod', ...listed(), status: { phase } }));
  };
  const server = createServer(answer);
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'v4.channel.k8s.io' });
  server.on('upgrade', (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, (upgraded) =>
      serve(
        upgraded,
        new URL(request.url ?? '', 'http://api').searchParams.get('ports'),
        new URL(request.url ?? '', 'http://api').pathname,
      ),
    ),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    for (const client of sockets.clients) client.terminate();
    server.closeAllConnections();
    server.close();
  });
  const config = {
    servers: [`http://127.0.0.1:${(server.address() as AddressInfo).port}`],
    auth: {},
    namespace: 'default',
  };
  const client = connect(config, {
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    userAgent: 'test',
  });
  closers.push(() => client.dispose());
  const forwards = createForwardHandlers({
    connect: () => Promise.resolve({ config, client } as unknown as ClusterConnection),
    clock: systemClock,
    random: systemRandom,
  });
  const host = fakeHost(forwards.handlers);
  closers.push(
    () => forwards.dispose(),
    () => host.close(),
  );
  /** Resolves with the first list that is as asked for. */
  const seen = (isWanted: (list: PortForward[]) => boolean): Promise<PortForward[]> =>
    new Promise((resolve, reject) => {
      const stream = host.client.open('forwards.watch', undefined, {
        onBatch(items) {
          const found = items.find(isWanted);
          if (!found) return;
          stream.dispose();
          resolve(found);
        },
        onEnd: (error) => reject(error ?? new Error('the stream ended')),
      });
    });
  const open = () =>
    host.client.call('forwards.open', {
      cluster: 'c',
      namespace: 'web',
      pod: 'web-1',
      remotePort: 8080,
      localPort: 0,
    });
  return { watches, seen, open, call: host.client.call.bind(host.client) };
};

const announce = (socket: WebSocket): void => {
  const port = Buffer.alloc(2);
  port.writeUInt16LE(8080);
  for (const channel of [0, 1]) socket.send(Buffer.concat([Buffer.from([channel]), port]));
};
const read = async (socket: Socket): Promise<string> => {
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
};

test('bytes go both ways and are counted; the end of the pod is the end of the connection', async () => {
  let asked: string | null = null;
  const api = await startApi((socket, ports) => {
    asked = ports;
    announce(socket);
    socket.on('message', (data: Buffer) => {
      socket.send(Buffer.concat([Buffer.from([0]), Buffer.from(`you said ${data.subarray(1).toString()}`)]));
      socket.close(1000);
    });
  });
  const { localPort } = await api.open();
  const local = dial(localPort, '127.0.0.1');
  local.write('hello');
  expect([await read(local), asked]).toEqual(['you said hello', '8080']);
  const [forward] = await api.seen(([one]) => one?.connections === 0 && one.bytes > 0);
  expect(forward).toMatchObject({ bytes: 19, problem: null, remotePort: 8080 });
});

test('a forward to a closed port shows the error of the kubelet', async () => {
  const api = await startApi((socket) => {
    announce(socket);
    socket.send(Buffer.concat([Buffer.from([1]), Buffer.from('error forwarding port 8080: refused')]));
    socket.close(1000);
  });
  const { localPort } = await api.open();
  const local = dial(localPort, '127.0.0.1');
  local.on('error', () => undefined);
  const [forward] = await api.seen(([one]) => one?.problem !== null);
  expect(forward?.problem).toEqual(verbatim('error forwarding port 8080: refused'));
});

test('a pod that its controller replaces leaves the port open, and the next one serves it', async () => {
  const owned = (name: string) => ({
    metadata: {
      ...pod.metadata,
      name,
      labels: { app: 'web', 'pod-template-hash': name },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'r', controller: true },
      ],
    },
  });
  let current = owned('web-1');
  const api = await startApi(
    (socket, _ports, path) => {
      announce(socket);
      socket.send(Buffer.concat([Buffer.from([0]), Buffer.from(path)]));
      socket.close(1000);
    },
    'Running',
    () => current,
  );
  const { localPort } = await api.open();
  await expect.poll(() => api.watches.length).toBe(1);
  current = owned('web-2');
  api.watches[0]?.write(`${JSON.stringify({ type: 'DELETED', object: owned('web-1') })}\n`);
  // The port is open all the time: a client that comes now waits for the next pod.
  expect(await read(dial(localPort, '127.0.0.1'))).toMatch(/pods\/web-[12]\/portforward/);
  const [forward] = await api.seen(([one]) => one?.pod === 'web-2');
  expect(forward).toMatchObject({ localPort, isWaiting: false, problem: null });
  expect(await read(dial(localPort, '127.0.0.1'))).toContain('pods/web-2/portforward');
});

test('when the pod goes the port is free again, and the forward says why', async () => {
  const api = await startApi(announce);
  const { localPort } = await api.open();
  await expect.poll(() => api.watches.length).toBe(1);
  api.watches[0]?.write(`${JSON.stringify({ type: 'DELETED', object: pod })}\n`);
  const [forward] = await api.seen(([one]) => one?.problem !== null);
  expect(forward?.problem).toEqual(say('failure.podDeleted', { pod: 'web/web-1' }));
  const [error] = (await once(dial(localPort, '127.0.0.1'), 'error').catch((thrown: unknown) => [
    thrown,
  ])) as [NodeJS.ErrnoException];
  expect(error.code).toBe('ECONNREFUSED');
});

test('a forward that is closed leaves the list and ends its connections', async () => {
  const api = await startApi(announce);
  const { id, localPort } = await api.open();
  const local = dial(localPort, '127.0.0.1');
  await api.seen(([one]) => one?.connections === 1);
  await api.call('forwards.close', { id });
  local.resume();
  await once(local, 'close');
  expect(await api.seen((list) => list.length === 0)).toEqual([]);
});

test('a pod that does not run is refused in the words of kubectl', async () => {
  const api = await startApi(announce, 'Pending');
  await expect(api.open()).rejects.toThrow(
    'unable to forward port because pod is not running. Current status=Pending',
  );
});
