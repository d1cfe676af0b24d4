import { PassThrough } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { manualClock } from '../../../../base/manual-clock.ts';
import { systemClock } from '../../../../base/node/clock.ts';
import { MemoryLog } from '../../memory-log.ts';
import type { ContainerExit } from '../../runtime.ts';
import { localContent, type ContentChannel, type ContentFault, type OpenContent } from './content-channel.ts';
import { ContentClient } from './content-client.ts';
import { CONTAINER_FAULTS_MAX, FAULT_BACK_OFF_MS_MIN } from './faults.ts';
import { FLUSH_CHARACTERS_MAX, FLUSH_LINES_MAX, LogOutlet } from './log-outlet.ts';
import type { ContainerFacts, LogEntry, ToContent } from './messages.ts';
import { threadContent, type ContentThreadData } from './thread-channel.ts';
import { MISSED_PINGS_MAX, PING_MS } from './watchdog.ts';

const facts = (podName: string, ordinal: number): ContainerFacts => ({
  ordinal,
  podUid: `uid-${podName}`,
  podName,
  namespace: 'default',
  nodeName: 'n1',
  containerName: 'app',
  revision: undefined,
  podIP: '127.0.0.1',
  hostIP: '127.0.0.1',
  isControlPlane: false,
  hostname: podName,
  user: { name: 'root', uid: 0, gid: 0 },
  isReadOnlyRoot: false,
  messagePath: '/dev/termination-log',
  workingDirectory: '/',
  init: 'sh',
  notReadyMs: 0,
  networks: [],
  dns: undefined,
  files: new Map(),
});

const container = (client: ContentClient, podName: string) => {
  const exits: ContainerExit[] = [];
  const log = new MemoryLog(systemClock);
  const inside = client.container({
    describe: (ordinal) => facts(podName, ordinal),
    log,
    onFault: (exit) => exits.push(exit),
  });
  return { inside, exits, log };
};

const start = (...argv: string[]) => ({ argv, environment: new Map<string, string>(), mounts: [] });
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A thread that answers only what the test says. */
class SilentThread implements ContentChannel {
  readonly posted: ToContent[] = [];
  readonly created = new Map<string, number>();
  workingOn = 0;
  isClosed = false;
  fault: (fault: ContentFault) => void = () => undefined;
  #heard: Parameters<ContentChannel['onMessage']>[0] = () => undefined;

  post(message: ToContent): void {
    this.posted.push(message);
    if (message.kind === 'create') this.created.set(message.facts.podName, message.facts.ordinal);
    if (message.kind === 'request')
      this.#heard({ kind: 'answer', request: message.request, result: { bound: [], unbound: [] } });
  }
  onMessage(listener: Parameters<ContentChannel['onMessage']>[0]): void {
    this.#heard = listener;
  }
  onFault(listener: (fault: ContentFault) => void): void {
    this.fault = listener;
  }
  working(): number {
    return this.workingOn;
  }
  close(): void {
    this.isClosed = true;
  }
}

const silent = () => {
  const clock = manualClock();
  const threads: SilentThread[] = [];
  const open: OpenContent = () => {
    const thread = new SilentThread();
    threads.push(thread);
    return thread;
  };
  return { clock, threads, client: new ContentClient({ clock, open }) };
};

test('nothing is started before a container needs it, and it ends when none is left', async () => {
  const { client, threads, clock } = silent();
  const one = container(client, 'one');
  expect(threads).toHaveLength(0);
  await one.inside.open([]);
  expect([threads.length, client.isOpen]).toEqual([1, true]);
  one.inside.remove();
  await turn();
  client.forget('uid-one');
  clock.advance(30_000);
  expect([client.isOpen, threads[0]!.isClosed]).toEqual([false, true]);
});

test('a thread that dies ends its containers with the culprit in the message', async () => {
  const { client, threads } = silent();
  const [hog, other] = [container(client, 'hog'), container(client, 'other')];
  await hog.inside.open([]);
  await other.inside.open([]);
  const [thread] = threads;
  thread!.workingOn = thread!.created.get('hog')!;
  thread!.fault({ message: 'heap limit', isOutOfMemory: true });
  const text = (who: string) =>
    `the thread of simulated containers ended while ${who} was at work: heap limit`;
  expect([hog.exits, other.exits]).toEqual([
    [
      {
        exitCode: 137,
        signal: 9,
        reason: 'OOMKilled',
        message: text('this container'),
        event: { reason: 'SimulationRestarted', message: text('this container') },
      },
    ],
    [
      {
        exitCode: 137,
        signal: 9,
        reason: 'Error',
        message: text('container default/hog/app'),
        event: { reason: 'SimulationRestarted', message: text('container default/hog/app') },
      },
    ],
  ]);
});

test('a thread that leaves so many pings in a row without an answer is ended', async () => {
  const { client, threads, clock } = silent();
  const { inside, exits } = container(client, 'loop');
  await inside.open([]);
  for (let i = 0; i < MISSED_PINGS_MAX; i += 1) clock.advance(PING_MS);
  expect(exits).toHaveLength(0);
  clock.advance(PING_MS);
  expect([threads[0]!.isClosed, exits.map(({ message }) => message)]).toEqual([
    true,
    ['the thread of simulated containers ended while a container was at work: it did not answer for 15s'],
  ]);
});

test('the next thread starts after a back-off, and without the container that ended it too often', async () => {
  const { client, threads, clock } = silent();
  for (let round = 0; round < CONTAINER_FAULTS_MAX; round += 1) {
    const started = container(client, 'hog').inside.open([]);
    await turn();
    expect(threads).toHaveLength(round === 0 ? 1 : round);
    clock.advance(FAULT_BACK_OFF_MS_MIN * 2 ** round);
    await started;
    const thread = threads.at(-1)!;
    thread.workingOn = thread.created.get('hog')!;
    thread.fault({ message: 'ended', isOutOfMemory: false });
  }
  await expect(container(client, 'hog').inside.open([])).rejects.toThrow(
    'container app ended the thread of simulated containers 3 times; it is not started again, delete the pod',
  );
});

/** Enough of the other side for a container to be there, then the given script. */
const worker =
  (script: string) =>
  (workerData: ContentThreadData): Worker =>
    new Worker(
      `const { parentPort, workerData } = require('node:worker_threads');
       parentPort.on('message', (message) => {
         if (message.kind === 'create') workerData.working[0] = message.facts.ordinal;
         if (message.kind !== 'request') return;
         parentPort.postMessage({ kind: 'answer', request: message.request, result: undefined });
         setImmediate(() => { ${script} });
       });`,
      { eval: true, workerData, resourceLimits: { maxOldGenerationSizeMb: 16 } },
    );

test.each([
  ['throws', "throw new Error('a bug')", 'Error', 'a bug'],
  ['ends itself', 'process.exit(7)', 'Error', 'it ended with code 7'],
  [
    'runs out of memory',
    'const all = []; for (;;) all.push(new Array(1e5).fill({}))',
    'OOMKilled',
    'memory limit',
  ],
])('a real thread that %s costs its containers and nothing else', async (_, script, reason, message) => {
  const client = new ContentClient({ clock: systemClock, open: threadContent(worker(script)) });
  const { inside, exits } = container(client, 'app');
  await inside.open([]);
  while (exits.length === 0) await turn();
  expect(exits[0]).toMatchObject({ exitCode: 137, reason });
  expect(exits[0]!.message).toContain(message);
  client.dispose();
});

test('a real thread in an endless loop is found and ended', async () => {
  const clock = manualClock();
  const client = new ContentClient({ clock, open: threadContent(worker('for (;;);')) });
  const { inside, exits } = container(client, 'loop');
  await inside.open([]);
  for (let i = 0; exits.length === 0 && i < 100; i += 1) {
    clock.advance(PING_MS);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect(exits[0]?.message).toContain('while this container was at work: it did not answer for 15s');
  client.dispose();
});

test('output waits for a client that reads slowly', async () => {
  const client = new ContentClient({ clock: systemClock, open: localContent(systemClock) });
  const { inside } = container(client, 'loud');
  const stdout = new PassThrough();
  const session = await inside.exec(start('sh', '-c', 'while true; do seq 1 2000; done'), {
    command: [],
    tty: false,
    stdout,
  });
  let before = -1;
  while (stdout.readableLength + stdout.writableLength !== before) {
    before = stdout.readableLength + stdout.writableLength;
    for (let i = 0; i < 50; i += 1) await turn();
  }
  expect(before).toBeLessThan(512 * 1024);
  session.kill();
  expect(await session.exitCode).toBe(137);
  client.dispose();
});

test('input and output of a session arrive to the last byte', async () => {
  const client = new ContentClient({ clock: systemClock, open: localContent(systemClock) });
  const { inside } = container(client, 'cat');
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const chunks: Buffer[] = [];
  stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const session = await inside.exec(start('sh', '-c', 'cat; echo done >&2; exit 3'), {
    command: [],
    tty: false,
    stdin,
    stdout,
    stderr,
  });
  const sent = 'abcdefghij'.repeat(50_000);
  stdin.end(sent);
  expect(await session.exitCode).toBe(3);
  expect(Buffer.concat(chunks).toString() === sent).toBe(true);
  expect(String(stderr.read())).toBe('done\n');
  client.dispose();
});

test('logs leave in batches, a bounded amount at a time, and their writers wait', async () => {
  const clock = manualClock();
  const batches: (readonly LogEntry[])[] = [];
  const outlet = new LogOutlet(clock, 50, (entries) => batches.push(entries));
  const write = (ordinal: number, text: string): void =>
    outlet.write({ container: ordinal, stream: 'stdout', text });
  const lines = (batch: readonly LogEntry[] = []) =>
    batch.flatMap(({ text }) => text.split('\n')).length - batch.length;
  write(1, 'at once\n');
  for (let ordinal = 1; ordinal <= 4; ordinal += 1)
    for (let i = 0; i < 1_000; i += 1) write(ordinal, `${i}\n`);
  outlet.offer({ container: 1, stream: 'stdout', text: 'left out\n' });
  const waiting = [1, 2, 3, 4].map((ordinal) => outlet.ready(ordinal)!);
  clock.advance(50);
  expect(batches.map(lines)).toEqual([1, FLUSH_LINES_MAX]);
  for (let i = 0; i < 10; i += 1) clock.advance(50);
  await Promise.all(waiting);
  const text = batches
    .slice(1)
    .flat()
    .filter(({ container }) => container === 1)
    .map((entry) => entry.text);
  expect(text.join('')).toBe(Array.from({ length: 1_000 }, (_, i) => `${i}\n`).join(''));
  expect(outlet.ready(1)).toBeUndefined();
});

test('a line without an end leaves in pieces', () => {
  const clock = manualClock();
  const sizes: number[] = [];
  const outlet = new LogOutlet(clock, 50, (entries) => sizes.push(...entries.map(({ text }) => text.length)));
  outlet.write({ container: 1, stream: 'stderr', text: 'x' });
  outlet.write({ container: 1, stream: 'stderr', text: 'x'.repeat(FLUSH_CHARACTERS_MAX + 1) });
  clock.advance(100);
  expect(sizes).toEqual([1, FLUSH_CHARACTERS_MAX, 1]);
});

const NET = `127.${60 + ((process.pid + 7) % 60)}`;

test('containers ask before they connect and before they answer, and stop asking when there are no policies', async () => {
  const asked: string[] = [];
  let isPoliced = true;
  let denied: 'connect' | 'accept' | 'none' = 'none';
  let tell: () => void = () => undefined;
  const client = new ContentClient({
    clock: systemClock,
    open: localContent(systemClock),
    judge: {
      get isPoliced() {
        return isPoliced;
      },
      start: () => undefined,
      onChange: (listener) => {
        tell = listener;
        return { dispose: () => undefined };
      },
      judge: ({ kind, from, to, port }) => {
        asked.push(`${kind} ${from} ${to}:${port}`);
        return Promise.resolve(
          kind === denied
            ? { isAllowed: false, reason: 'Egress is denied by NetworkPolicy default/deny' }
            : { isAllowed: true },
        );
      },
    },
  });
  const make = (name: string, podIP: string) => {
    const log = new MemoryLog(systemClock);
    return client.container({
      describe: (ordinal) => ({ ...facts(name, ordinal), podIP, networks: [`${NET}.0.0/16`] }),
      log,
      onFault: () => undefined,
    });
  };
  const [web, box] = [make('web', `${NET}.1.1`), make('box', `${NET}.1.2`)];
  await web.open([{ containerPort: 4380 }]);
  const curl = async (): Promise<{ code: number; err: string }> => {
    const stderr = new PassThrough();
    const session = await box.exec(start('curl', '-s', `http://${NET}.1.1:4380/`), {
      command: [],
      tty: false,
      stdout: new PassThrough().resume(),
      stderr,
    });
    const code = await session.exitCode;
    return { code, err: String(stderr.read() ?? '') };
  };
  expect([await curl(), asked.splice(0)]).toEqual([
    { code: 0, err: '' },
    [`connect ${NET}.1.2 ${NET}.1.1:4380`, `accept ${NET}.1.2 ${NET}.1.1:4380`],
  ]);
  denied = 'connect';
  expect(await curl()).toEqual({
    code: 7,
    err: `curl: (7) can't connect to remote host (${NET}.1.1): Egress is denied by NetworkPolicy default/deny\n`,
  });
  denied = 'accept';
  expect((await curl()).code).toBe(7);
  isPoliced = false;
  tell();
  asked.length = 0;
  expect([(await curl()).code, asked]).toEqual([0, []]);
  web.remove();
  box.remove();
  client.dispose();
});
