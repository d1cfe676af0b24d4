import { expect, test, vi } from 'vitest';
import { systemClock } from '../base/node/clock.ts';
import { seededRandom } from '../base/random.ts';
import { runAction } from './probes/action.ts';
import { RuntimeError, type RunningContainer } from './runtimes/runtime.ts';
import { resolveImage } from './runtimes/simulated/images.ts';
import { ListenerPool } from './runtimes/simulated/pod-listeners.ts';
import { Budget } from './runtimes/simulated/shell/budget.ts';
import { MemoryFileSystem, newLayer } from './runtimes/simulated/shell/file-system.ts';
import { Shell } from './runtimes/simulated/shell/interpreter.ts';
import { noInput } from './runtimes/simulated/shell/pipe.ts';
import { hostilePod, hostileScript, hostileText } from './testing/hostile.ts';
import { pod, world } from './testing/world.ts';

/** For what hangs, not for what is slow. */
vi.setConfig({ testTimeout: 600_000 });

const INPUTS = 10_000;
const SEED = 20_260_117;
/** A script that does not end on its own is killed after so many turns of the event loop. */
const TURNS_MAX = 4;
const PROBES_AT_ONCE = 20;
/** For what hangs. */
const PROBE_TIMEOUT_MS = 120_000;

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
      dns: undefined,
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

test(`${INPUTS} probes with hostile paths and headers have a result, and the pod's port outlives them (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const pool = new ListenerPool(systemClock);
  const address = '127.81.0.1';
  const port = 18_080;
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
  const listeners = await pool.open([{ containerPort: port }], { address, hostIP: address, responder });
  const target = {
    podIP: address,
    spec: { name: 'app' },
    container: {} as RunningContainer, // only exec would use it
    clock: systemClock,
    userAgent: 'kube-probe/1.36',
  };
  const results = { answered: 0, failed: 0, refused: 0 };
  const probe = async (): Promise<void> => {
    const headers = random.below(5) === 0 ? [{ name: hostileText(random), value: hostileText(random) }] : [];
    const httpGet = { path: hostileText(random), port, httpHeaders: headers };
    try {
      const { ok } = await runAction({ httpGet }, target, PROBE_TIMEOUT_MS);
      results[ok ? 'answered' : 'failed'] += 1;
    } catch {
      results.refused += 1; // what cannot be written as a request
    }
  };
  for (let done = 0; done < INPUTS; done += PROBES_AT_ONCE)
    await Promise.all(Array.from({ length: PROBES_AT_ONCE }, probe));
  expect(results.answered + results.failed + results.refused).toBe(INPUTS);
  expect(results.answered).toBeGreaterThan(INPUTS / 2);
  expect((await fetch(`http://${address}:${port}/`)).status).toBe(200);
  listeners.close();
});
