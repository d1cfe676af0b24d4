import dgram from 'node:dgram';
import http from 'node:http';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import type { V1Pod } from '../../../api/schema/index.ts';
import { container, logOfRecord, pod, settle, type World, world } from '../../testing/world.ts';
import type { PodWorker } from '../../sync/pod-worker.ts';
import { resolveImage } from './images.ts';
import { rangeAddresses } from './pod-addresses.ts';

const SIMULATION = 'simulation.pilothouse.dev/';
const workers: PodWorker[] = [];
let current: World;

afterEach(async () => {
  const ended = workers.splice(0).map((worker) => {
    worker.terminate({ graceSeconds: 0 });
    return worker.whenTerminated();
  });
  for (let i = 0; i < 3; i += 1) await current.advance(5_000);
  await Promise.all(ended);
});

const run = async (subject: V1Pod): Promise<PodWorker> => {
  const worker = current.run(subject);
  workers.push(worker);
  // Ports are opened by the machine, not by the manual clock.
  for (let i = 0; i < 100 && worker.status?.containerStatuses?.[0]?.state?.running === undefined; i += 1)
    await settle();
  return worker;
};

const get = (url: string, headers: Record<string, string> = {}): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    http
      .get(url, { agent: false, headers }, (response) => {
        let body = '';
        response.on('data', (chunk: Buffer) => (body += chunk.toString()));
        response.once('end', () => resolve({ status: response.statusCode ?? 0, body }));
      })
      .once('error', reject);
  });

const served = (name: string, port: number, annotations: Record<string, string> = {}): V1Pod =>
  pod(
    { containers: [container('app', { ports: [{ containerPort: port }] })] },
    { name, uid: name, labels: { 'pod-template-hash': 'r1' }, annotations },
  );

test('a declared port answers who it is at the pod’s own address, while the container runs', async () => {
  current = world({ opensPorts: true });
  const worker = await run(served('web', 8080));
  const url = `http://${worker.status!.podIP}:8080`;
  expect(JSON.parse((await get(`${url}/hello`)).body)).toEqual({
    pod: 'web',
    namespace: 'default',
    node: 'n1',
    container: 'app',
    revision: 'r1',
    ip: worker.status!.podIP,
    method: 'GET',
    path: '/hello',
    time: '2026-01-01T00:00:00.000Z',
  });
  expect((await get(url, { Accept: 'text/plain' })).body).toContain('pod: web\n');
  expect((await get(`${url}/status/418`)).status).toBe(418);
  worker.terminate({ graceSeconds: 0 });
  await current.advance(5_000);
  await expect(get(url)).rejects.toThrow('ECONNREFUSED');
});

test('a container that is not ready answers 503', async () => {
  current = world({ opensPorts: true });
  const worker = await run(served('web', 8080, { [`${SIMULATION}not-ready`]: 'true' }));
  expect((await get(`http://${worker.status!.podIP}:8080/`)).status).toBe(503);
});

test('a UDP port echoes', async () => {
  current = world({ opensPorts: true });
  const worker = await run(
    pod({ containers: [container('dns', { ports: [{ containerPort: 5353, protocol: 'UDP' }] })] }),
  );
  const socket = dgram.createSocket('udp4');
  socket.send('marco', 5353, worker.status!.podIP!);
  const [message] = (await once(socket, 'message')) as [Buffer];
  expect(message.toString()).toBe('marco');
  socket.close();
});

test('a port that is taken fails the start with the address in the message', async () => {
  current = world({ opensPorts: true });
  const hostNetwork = (name: string): V1Pod => {
    const subject = served(name, 8099);
    return { ...subject, spec: { ...subject.spec!, hostNetwork: true } };
  };
  await run(hostNetwork('first'));
  const second = current.run(hostNetwork('second'));
  workers.push(second);
  for (let i = 0; i < 100 && !second.status?.containerStatuses?.[0]?.state?.waiting?.message; i += 1)
    await settle();
  expect(second.status?.containerStatuses?.[0]?.state?.waiting).toEqual({
    reason: 'RunContainerError',
    message: 'listen on 127.77.0.1:8099: address already in use',
  });
});

test('a readiness probe goes over the wire to the port', async () => {
  current = world({ opensPorts: true });
  const subject = served('web', 8081);
  subject.spec!.containers[0]!.readinessProbe = {
    httpGet: { port: 8081, path: '/status/500' },
    periodSeconds: 1,
  };
  const worker = await run(subject);
  for (let i = 0; i < 20 && !current.events.some((event) => event.includes('Unhealthy')); i += 1)
    await current.advance(100);
  expect(current.events).toContain(
    'Warning Unhealthy Readiness probe failed: HTTP probe failed with statuscode: 500',
  );
  expect(worker.status?.containerStatuses?.[0]?.ready).toBe(false);
});

test('a container that claims more memory than its limit is OOMKilled', async () => {
  current = world();
  const worker = await run(
    pod(
      {
        restartPolicy: 'Never',
        containers: [container('hog', { resources: { limits: { memory: '64Mi' } } })],
      },
      { annotations: { [`${SIMULATION}memory`]: '128Mi' } },
    ),
  );
  await current.advance(1_000);
  expect(worker.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({
    exitCode: 137,
    reason: 'OOMKilled',
  });
});

test('log lines come in their rhythm, and a wrong annotation is reported in the log', async () => {
  current = world();
  const worker = await run(
    pod(
      {},
      {
        annotations: {
          [`${SIMULATION}logs`]: 'tick\ntock',
          [`${SIMULATION}log-interval`]: '1s',
          [`${SIMULATION}cpu`]: 'lots',
        },
      },
    ),
  );
  for (let i = 0; i < 2; i += 1) await current.advance(1_000);
  expect(await logOfRecord(worker.records[0])).toEqual([
    'annotation simulation.pilothouse.dev/cpu: "lots" is not a quantity such as 100m or 64Mi',
    'tick',
    'tock',
    'tick',
  ]);
});

test('an image has the same digest everywhere, and some cannot be resolved', () => {
  expect(resolveImage('nginx').imageID).toBe(resolveImage('docker.io/library/nginx:latest').imageID);
  expect(() => resolveImage('shop.invalid/app:1')).toThrow('no such host');
  expect(() => resolveImage('private/app:1')).toThrow('pull access denied');
  expect(() => resolveImage('Upper/Case')).toThrow('invalid reference format');
});

test('addresses are given out in turn, kept when asked for, and run out', () => {
  const addresses = rangeAddresses('127.5.0.0/29');
  const given = [addresses.allocate(), addresses.allocate('127.5.0.5'), addresses.allocate()];
  expect(given).toEqual(['127.5.0.1', '127.5.0.5', '127.5.0.2']);
  addresses.release('127.5.0.1');
  expect([addresses.allocate(), addresses.allocate(), addresses.allocate(), addresses.allocate()]).toEqual([
    '127.5.0.3',
    '127.5.0.4',
    '127.5.0.6',
    '127.5.0.1',
  ]);
  expect(() => addresses.allocate()).toThrow('no address is free');
});
