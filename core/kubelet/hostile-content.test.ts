import net from 'node:net';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { manualClock } from '../base/manual-clock.ts';
import { systemClock } from '../base/node/clock.ts';
import type { V1Pod } from '../api/schema/index.ts';
import { MemoryLog, LOG_BYTES_MAX, LOG_LINE_CHARACTERS_MAX } from './runtimes/memory-log.ts';
import type { RunningContainer } from './runtimes/runtime.ts';
import { SIMULATION_PREFIX } from './runtimes/simulated/behaviour.ts';
import { resolveImage } from './runtimes/simulated/images.ts';
import { startProbe } from './probes/probe-worker.ts';
import type { PodWorker } from './sync/pod-worker.ts';
import { container, logOfRecord, pod, type World, world } from './testing/world.ts';
import { resolveEnvironment } from './volumes/environment.ts';
import { noObjects } from './testing/world.ts';

let current: World | undefined;
const workers: PodWorker[] = [];
afterEach(async () => {
  for (const worker of workers.splice(0)) worker.terminate({ graceSeconds: 0 });
  await current?.advance(60_000);
});

const run = async (subject: V1Pod): Promise<PodWorker> => {
  current = world({ opensPorts: true, podRange: '127.77.2.0/24' });
  const worker = current.run(subject);
  workers.push(worker);
  for (let i = 0; i < 50 && worker.status?.phase !== 'Running'; i += 1) await current.advance(0);
  return worker;
};

const raw = async (address: string, port: number, bytes: string): Promise<string> => {
  const socket = net.connect({ host: address, port });
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  socket.on('error', () => undefined);
  socket.end(bytes, 'latin1');
  await once(socket, 'close');
  return text.split('\r\n')[0] ?? '';
};

test('a pod port answers whatever path it is asked for', async () => {
  const worker = await run(
    pod({ containers: [container('app', { ports: [{ containerPort: 8080 }] })] }, { name: 'web' }),
  );
  const ask = (target: string): Promise<string> =>
    raw(worker.status!.podIP!, 8080, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  for (const target of ['//', '///', 'http://[', 'http://', '/%', '/\\', '*', '//?format=text', '/?%'])
    expect([target, await ask(target)]).toEqual([target, 'HTTP/1.1 200 OK']);
  expect(await ask('//status/500')).toBe('HTTP/1.1 200 OK');
  expect(await raw(worker.status!.podIP!, 8080, '\x00\xff garbage\r\n\r\n')).toBe('HTTP/1.1 400 Bad Request');
  expect(await ask('/status/418')).toBe("HTTP/1.1 418 I'm a Teapot");
});

test('a probe of a port name that does not exist is unknown, and the next one is tried', async () => {
  const clock = manualClock();
  const messages: string[] = [];
  const probe = startProbe({
    kind: 'liveness',
    probe: { httpGet: { port: 'nosuch', path: '//' }, periodSeconds: 1 },
    target: {
      podIP: '127.0.0.1',
      spec: container('app'),
      container: {} as RunningContainer,
      clock,
      userAgent: 'kube-probe/1.36',
    },
    onResult: () => undefined,
    onUnhealthy: (message) => messages.push(message),
  });
  for (let i = 0; i < 2; i += 1) {
    clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  probe.dispose();
  const message = 'Liveness probe errored and resulted in unknown state: unresolved port: nosuch';
  expect(messages).toEqual([message, message]);
});

test('a program that runs out of memory costs its container', async () => {
  const script = 'x=aaaaaaaaaaaaaaaa; while true; do x=$x$x; done';
  const worker = await run(
    pod({ restartPolicy: 'Never', containers: [container('hog', { command: ['sh', '-c', script] })] }),
  );
  for (let i = 0; i < 200 && worker.status?.phase !== 'Failed'; i += 1) await current!.advance(100);
  expect(worker.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({
    exitCode: 2,
    reason: 'Error',
  });
  expect(await logOfRecord(worker.records[0])).toEqual(['sh: out of memory']);
});

test('lines of any length take no more than the log holds', () => {
  const log = new MemoryLog(manualClock());
  log.line('x'.repeat(4 * LOG_BYTES_MAX));
  for (let i = 0; i < 64; i += 1) log.write('y'.repeat(LOG_LINE_CHARACTERS_MAX));
  const { lines } = log.from(0);
  expect(lines.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(LOG_BYTES_MAX);
  expect(Math.max(...lines.map(({ text }) => text.length))).toBe(LOG_LINE_CHARACTERS_MAX);
});

test('variables that double each other fail the start instead of filling the memory', async () => {
  const env = [{ name: 'V0', value: 'x'.repeat(64) }];
  for (let i = 1; i <= 40; i += 1) env.push({ name: `V${i}`, value: `$(V${i - 1})$(V${i - 1})` });
  const context = { pod: pod({}), hostIP: '', podIPs: [], allocatable: {} };
  await expect(resolveEnvironment(container('app', { env }), context, noObjects, new Map())).rejects.toThrow(
    'argument list too long',
  );
});

test('a field that every object of the language has is not a field of the pod', async () => {
  const env = [
    { name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.labels['constructor']" } } },
    { name: 'B', valueFrom: { resourceFieldRef: { resource: 'limits.constructor', divisor: '0m' } } },
  ];
  const context = { pod: pod({}, { labels: {} }), hostIP: '', podIPs: [], allocatable: {} };
  const values = await resolveEnvironment(container('app', { env }), context, noObjects, new Map());
  expect([...values]).toEqual([
    ['A', ''],
    ['B', '0'],
  ]);
});

test('an image name longer than the format allows is refused without a look at its parts', () => {
  expect(() => resolveImage('a.'.repeat(500_000) + 'a')).toThrow('invalid reference format');
});

test('a delay longer than a timer can count is not over immediately', async () => {
  let isOver = false;
  const timer = systemClock.after(2 ** 40, () => (isOver = true));
  await new Promise((resolve) => setTimeout(resolve, 5));
  timer.dispose();
  expect(isOver).toBe(false);
});

test('an annotation of any size is quoted in part', async () => {
  const annotations = { [`${SIMULATION_PREFIX}cpu`]: 'z'.repeat(100_000) };
  const worker = await run(pod({}, { annotations }));
  const [line] = await logOfRecord(worker.records[0]);
  expect(line!.length).toBeLessThan(400);
});
