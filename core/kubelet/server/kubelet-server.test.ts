import http from 'node:http';
import https from 'node:https';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import WebSocket from 'ws';
import { container, pod } from '../testing/world.ts';
import { serving, type Serving } from '../testing/serving.ts';

const SIMULATION = 'simulation.pilothouse.dev/';
let kubelet: Serving;

beforeAll(async () => {
  kubelet = await serving(
    [
      pod(
        {
          containers: [
            container('app', {
              ports: [{ containerPort: 8080, name: 'http' }],
              env: [{ name: 'COLOUR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'colour' } } }],
              volumeMounts: [
                { name: 'config', mountPath: '/etc/config' },
                { name: 'scratch', mountPath: '/data' },
              ],
            }),
          ],
          volumes: [
            { name: 'config', configMap: { name: 'settings' } },
            { name: 'scratch', emptyDir: {} },
          ],
        },
        {
          labels: { 'pod-template-hash': 'abc123' },
          annotations: { [`${SIMULATION}logs`]: 'one\ntwo\nthree' },
        },
      ),
      pod(
        { containers: [container('crash')], restartPolicy: 'Always' },
        {
          name: 'crash',
          uid: 'uid-2',
          annotations: { [`${SIMULATION}crash-after`]: '0s', [`${SIMULATION}logs`]: 'dying' },
        },
      ),
    ],
    [{ metadata: { name: 'settings' }, data: { colour: 'blue', 'app.conf': 'debug=1\n' } }],
  );
});
afterAll(() => kubelet.stop());

const connect = (path: string, protocols: string[]): WebSocket =>
  new WebSocket(`wss://${kubelet.host}:${kubelet.port}${path}`, protocols, { ...kubelet.tls });

/** Runs a command over WebSocket channels and gathers what came, by channel. */
const exec = async (
  command: string[],
  options: { readonly stdin?: string; readonly tty?: boolean; readonly protocol?: string } = {},
): Promise<{ protocol: string; stdout: string; stderr: string; status: unknown }> => {
  const query = new URLSearchParams(command.map((word): [string, string] => ['command', word]));
  query.set('output', '1');
  if (options.tty) query.set('tty', '1');
  else query.set('error', '1');
  if (options.stdin !== undefined) query.set('input', '1');
  const socket = connect(`/exec/default/web/app?${query}`, [options.protocol ?? 'v5.channel.k8s.io']);
  const channels = ['', '', '', ''];
  socket.on('message', (data: Buffer) => (channels[data[0]!] += data.subarray(1).toString()));
  await once(socket, 'open');
  if (options.stdin !== undefined) {
    socket.send(Buffer.concat([Buffer.from([0]), Buffer.from(options.stdin)]));
    if (!options.tty) socket.send(Buffer.from([255, 0]));
  }
  await once(socket, 'close');
  return {
    protocol: socket.protocol,
    stdout: channels[1]!,
    stderr: channels[2]!,
    status: channels[3] === '' ? undefined : JSON.parse(channels[3]!),
  };
};

test('logs can be cut from the end, stamped and limited', async () => {
  const logs = async (query: string) => (await kubelet.get(`/containerLogs/default/web/app${query}`)).body;
  expect(await logs('')).toBe('one\ntwo\nthree\n');
  expect(await logs('?tailLines=1')).toBe('three\n');
  expect(await logs('?tailLines=0')).toBe('');
  expect(await logs('?limitBytes=5')).toBe('one\nt');
  expect(await logs('?timestamps=true&tailLines=1')).toMatch(
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z three\n$/,
  );
  expect(await logs('?sinceTime=2999-01-01T00:00:00Z')).toBe('');
});

test('the log of the container before is there while it backs off', async () => {
  const answer = await kubelet.get('/containerLogs/default/crash/crash?previous=true');
  expect(answer).toEqual({ status: 200, body: 'dying\n' });
});

test('a log that is not there is refused in upstream’s words', async () => {
  expect(await kubelet.get('/containerLogs/default/web/nope')).toEqual({
    status: 404,
    body: 'container "nope" not found in pod "web"',
  });
  expect(await kubelet.get('/containerLogs/default/web/app?previous=true')).toEqual({
    status: 400,
    body: 'previous terminated container "app" in pod "web" not found',
  });
});

test('a follower gets lines as they come', async () => {
  const { host, port, tls } = kubelet;
  const request = https.get({
    host,
    port,
    path: '/containerLogs/default/web/app?follow=true&tailLines=0',
    agent: false,
    ...tls,
  });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const address = kubelet.api.get((await import('../../client/index.ts')).POD, 'web').status?.podIP;
  await new Promise((resolve) =>
    http.get(`http://${address}:8080/hello`, { agent: false }, (r) => r.resume().on('end', resolve)),
  );
  const [chunk] = (await once(response, 'data')) as [Buffer];
  expect(chunk.toString()).toContain('"GET /hello HTTP/1.1" 200');
  request.destroy();
});

test('a client without a certificate is rejected, and one with a certificate needs permission', async () => {
  const { ca } = kubelet.tls;
  expect((await kubelet.get('/pods', { ca })).status).toBe(401);
  expect((await kubelet.get('/healthz', { ca })).body).toBe('ok');
  expect(await kubelet.get('/pods', kubelet.strangerTls)).toEqual({
    status: 403,
    body: 'Forbidden (user=mallory, verb=get, resource=nodes, subresource(s)=[pods proxy])',
  });
});

test('pods, stats and metrics tell what runs', async () => {
  const pods = JSON.parse((await kubelet.get('/pods')).body) as { items: { metadata: { name: string } }[] };
  expect(pods.items.map(({ metadata }) => metadata.name).sort()).toEqual(['crash', 'web']);
  const summary = JSON.parse((await kubelet.get('/stats/summary')).body) as {
    pods: { podRef: { name: string }; containers: { memory: { workingSetBytes: number } }[] }[];
  };
  const web = summary.pods.find(({ podRef }) => podRef.name === 'web');
  expect(web?.containers[0]?.memory.workingSetBytes).toBeGreaterThan(0);
  expect((await kubelet.get('/metrics/resource')).body).toMatch(
    /container_memory_working_set_bytes\{container="app",namespace="default",pod="web"\} \d+ \d+/,
  );
  expect((await kubelet.get('/metrics')).body).toContain('kubelet_running_pods 2');
});

test('a command runs over WebSocket and its exit code comes back', async () => {
  const success = { metadata: {}, status: 'Success' };
  expect(await exec(['cat', '/etc/config/app.conf'])).toMatchObject({ stdout: 'debug=1\n', status: success });
  expect(await exec(['sh', '-c', 'echo $COLOUR | wc -c && hostname'])).toMatchObject({ stdout: '5\nweb\n' });
  expect(await exec(['sh', '-c', 'echo oops >&2; exit 3'], { protocol: 'v4.channel.k8s.io' })).toEqual({
    protocol: 'v4.channel.k8s.io',
    stdout: '',
    stderr: 'oops\n',
    status: {
      metadata: {},
      status: 'Failure',
      message: 'command terminated with non-zero exit code: command terminated with exit code 3',
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: '3' }] },
    },
  });
});

test('standard input ends when version 5 closes its channel', async () => {
  expect(await exec(['cat'], { stdin: 'through and through' })).toMatchObject({
    stdout: 'through and through',
  });
});

test('a file that one command writes to an emptyDir is readable by the next one', async () => {
  await exec(['sh', '-c', 'echo kept > /data/file']);
  expect((await exec(['cat', '/data/file'])).stdout).toBe('kept\n');
  expect((await exec(['sh', '-c', 'echo x > /etc/config/app.conf'])).stderr).toContain(
    'Read-only file system',
  );
});

test('a terminal echoes, prompts and ends with Ctrl-D', async () => {
  const { stdout, status } = await exec(['sh'], { tty: true, stdin: 'echo hix\x7f\r\x04' });
  expect(stdout).toBe('/ # echo hix\b \b\r\nhi\r\n/ # ');
  expect(status).toMatchObject({ status: 'Success' });
});

test('a command that is not there fails as it does in a real container', async () => {
  const { status } = await exec(['vim']);
  expect(status).toMatchObject({ status: 'Failure', reason: 'InternalError' });
  expect((status as { message: string }).message).toContain(
    'exec: "vim": executable file not found in $PATH',
  );
});

test('a port is forwarded over the channels of a WebSocket', async () => {
  const socket = connect('/portForward/default/web?port=8080', ['v4.channel.k8s.io']);
  let text = '';
  socket.on('message', (data: Buffer) => (text += data.subarray(1).toString()));
  await once(socket, 'open');
  socket.send(
    Buffer.concat([Buffer.from([0]), Buffer.from('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')]),
  );
  while (!text.includes('"pod":"web"')) await once(socket, 'message');
  expect(text).toContain('HTTP/1.1 200 OK');
  expect(text).toContain('"revision":"abc123"');
  socket.close();
});

test('/configz tells what the kubelet runs with', async () => {
  const { status, body } = await kubelet.get('/configz');
  expect([status, JSON.parse(body)]).toMatchObject([
    200,
    { kubeletconfig: { streamingConnectionIdleTimeout: '4h0m0s', eventRecordQPS: 50, readOnlyPort: 0 } },
  ]);
});
