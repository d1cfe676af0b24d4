import net from 'node:net';
import tls from 'node:tls';
import { expect, test, vi } from 'vitest';
import { systemClock } from '../base/node/clock.ts';
import { seededRandom, type Random } from '../base/random.ts';
import { RuntimeError } from './runtimes/runtime.ts';
import { resolveImage } from './runtimes/simulated/images.ts';
import { ListenerPool } from './runtimes/simulated/pod-listeners.ts';
import { Budget } from './runtimes/simulated/shell/budget.ts';
import { MemoryFileSystem, newLayer } from './runtimes/simulated/shell/file-system.ts';
import { Shell } from './runtimes/simulated/shell/interpreter.ts';
import { noInput } from './runtimes/simulated/shell/pipe.ts';
import { hostilePod, hostileRequest, hostileScript, hostileText } from './testing/hostile.ts';
import { serving } from './testing/serving.ts';
import { container, pod, world } from './testing/world.ts';

/** For what hangs, not for what is slow: each of ten thousand handshakes waits its turn on a busy machine. */
vi.setConfig({ testTimeout: 600_000 });

const INPUTS = 10_000;
const SEED = 20_260_117;
const CONNECTIONS = 20;
/** A script that does not end by itself is killed after so many turns of the event loop. */
const TURNS_MAX = 4;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test(`${INPUTS} scripts end with an exit code or are killed (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  for (let i = 0; i < INPUTS; i += 1) {
    const budget = new Budget(systemClock);
    const abort = new AbortController();
    const host = {
      clock: systemClock,
      hostname: 'h',
      podName: 'p',
      namespace: 'n',
      nodeName: 'n1',
      podIP: '127.0.0.1',
      kernelVersion: '6',
      user: { name: 'root', uid: 0, gid: 0 },
      init: 'sh',
      networks: [],
      fileSystem: new MemoryFileSystem(newLayer(new Map()), []),
      budget,
    };
    const shell = new Shell({ host, environment: new Map(), signal: abort.signal });
    const script = hostileScript(random);
    let code: unknown;
    const argv = random.below(4) === 0 ? script.split(' ') : ['sh', '-c', script];
    void shell
      .runCommand(argv, { input: noInput, out: () => undefined, err: () => undefined })
      .then((exit) => (code = exit));
    for (let turns = 0; code === undefined && turns < TURNS_MAX; turns += 1) await turn();
    abort.abort();
    for (let turns = 0; code === undefined && turns < 1_000; turns += 1) await turn();
    shell.dispose();
    if (typeof code !== 'number' || budget.processes !== 0 || budget.characters !== 0)
      expect({ i, script, code, processes: budget.processes, characters: budget.characters }).toBe('ended');
  }
});

test(`${INPUTS} image names resolve or are refused (seed ${SEED})`, () => {
  const random = seededRandom(SEED);
  for (let i = 0; i < INPUTS; i += 1) {
    try {
      resolveImage(hostileText(random, 8));
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error;
    }
  }
});

test(`${INPUTS} hostile pods run or fail, and a good one beside them runs (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const subject = world();
  const BATCH = 100;
  for (let first = 0; first < INPUTS; first += BATCH) {
    const workers = Array.from({ length: BATCH }, (_, i) => subject.run(hostilePod(random, first + i)));
    await subject.advance(10);
    await subject.advance(2_000);
    for (const worker of workers) worker.terminate({ graceSeconds: 0 });
    const ended = Promise.all(workers.map((worker) => worker.whenTerminated()));
    let isEnded = false;
    void ended.then(() => (isEnded = true));
    for (let i = 0; i < 200 && !isEnded; i += 1) await subject.advance(5_000);
    const left = workers
      .filter(({ stage }) => stage !== 'terminated')
      .map((worker) => JSON.stringify(worker.pod));
    expect(left).toEqual([]);
  }
  const good = subject.run(pod({}, { name: 'good', uid: 'good' }));
  await subject.advance(1_000);
  expect(good.status?.phase).toBe('Running');
  good.terminate({ graceSeconds: 0 });
  await subject.advance(5_000);
});

/** Turns of the event loop in which a server that has something to say says it. */
const ANSWER_TURNS_MAX = 30;
const INPUTS_PER_CONNECTION_MAX = 50;

/** One input: whether the connection is there for the next. */
const sendOne = async (socket: net.Socket, bytes: Buffer): Promise<boolean> => {
  let isAnswered = false;
  socket.once('data', () => (isAnswered = true));
  socket.write(bytes);
  for (let turns = 0; turns < ANSWER_TURNS_MAX && !isAnswered && !socket.destroyed; turns += 1) await turn();
  return isAnswered && !socket.destroyed && socket.writable;
};

/** Sends all inputs over a few connections at a time; an answer is not needed, a server that lives is. */
const sendAll = async (random: Random, connect: () => Promise<net.Socket>): Promise<void> => {
  let left = INPUTS;
  const client = async (): Promise<void> => {
    while (left > 0) {
      const socket = await connect();
      socket.on('error', () => socket.destroy());
      socket.resume();
      for (let sent = 0; sent < INPUTS_PER_CONNECTION_MAX && left > 0; sent += 1) {
        left -= 1;
        if (!(await sendOne(socket, hostileRequest(random)))) break;
      }
      socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
};

const connected = async (socket: net.Socket, event: string): Promise<net.Socket> => {
  socket.on('error', () => socket.destroy());
  await new Promise((resolve) => socket.once(event, resolve).once('close', resolve));
  return socket;
};

test(`a pod port takes ${INPUTS} hostile requests (seed ${SEED})`, async () => {
  const pool = new ListenerPool(systemClock);
  const address = '127.81.0.1';
  const responder = {
    pod: 'web',
    namespace: 'default',
    node: 'n1',
    container: 'app',
    revision: undefined,
    ip: address,
    isUp: () => true,
    onRequest: () => undefined,
  };
  const listeners = await pool.open([{ containerPort: 18_080 }], { address, hostIP: address, responder });
  await sendAll(seededRandom(SEED), () => connected(net.connect({ host: address, port: 18_080 }), 'connect'));
  const answer = await fetch(`http://${address}:18080/`);
  expect(answer.status).toBe(200);
  listeners.close();
});

test(`the kubelet port takes ${INPUTS} hostile requests (seed ${SEED})`, async () => {
  const subject = await serving([
    pod({ containers: [container('app', { ports: [{ containerPort: 8080 }] })] }),
  ]);
  const { host, port } = subject;
  let count = 0;
  // One handshake for many: the session is resumed.
  let session: Buffer | undefined;
  await sendAll(seededRandom(SEED), () => {
    count += 1;
    const credentials = count % 10 === 0 ? { ca: subject.tls.ca } : subject.tls;
    const socket = tls.connect({ host, port, ...credentials, ...(session && { session }) });
    socket.on('session', (next) => (session = next));
    return connected(socket, 'secureConnect');
  });
  expect((await subject.get('/healthz')).status).toBe(200);
  await subject.stop();
});
