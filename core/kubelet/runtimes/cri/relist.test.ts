import { expect, test } from 'vitest';

import { silentLog } from '../../../base/log.ts';
import { manualClock } from '../../../base/manual-clock.ts';
import type { ContainerExit } from '../runtime.ts';
import type { CriClient } from './cri-client.ts';
import { CriContainer } from './cri-container.ts';
import type { ContainerStatus } from './messages.ts';
import { Relist } from './relist.ts';

const STATUS: ContainerStatus = {
  id: 'c',
  name: 'app',
  attempt: 0,
  state: 'exited',
  labels: new Map(),
  createdMs: 0,
  startedMs: 0,
  finishedMs: 1,
  exitCode: 137,
  image: '',
  imageRef: '',
  reason: 'Error',
  message: '',
  annotations: new Map(),
  logPath: '',
};

/** A runtime whose container has ended, and which says why in these words, one after the other. */
const exitOf = async (reasons: readonly string[], stop = false): Promise<[ContainerExit, number]> => {
  const clock = manualClock();
  let asked = 0;
  const runtime = {
    isClosed: false,
    listContainers: () => Promise.resolve([{ id: 'c', state: 'exited' }]),
    listSandboxes: () => Promise.resolve([]),
    stopContainer: () => Promise.resolve(),
    containerStatus: () =>
      Promise.resolve({ ...STATUS, reason: reasons[Math.min(asked++, reasons.length - 1)]! }),
  };
  const client = runtime as unknown as CriClient;
  const relist = new Relist({ client, clock, log: silentLog, nodeKey: 'n' });
  const container = new CriContainer({
    ...{ client, clock, runtimeName: 'r', id: 'c', logFile: '/nowhere', memoryCapacityBytes: 1 },
    look: () => relist.look(),
  });
  if (stop) container.stop(0);
  const exited = new Promise<ContainerExit>((resolve) => container.onExit(resolve));
  let isOver = false;
  void exited.then(() => (isOver = true));
  relist.followContainer(container);
  while (!isOver) {
    clock.advance(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  relist.dispose();
  return [await exited, asked];
};

test('a container whose runtime is away is stopped once it is back', async () => {
  const clock = manualClock();
  const graces: number[] = [];
  const runtime = {
    isClosed: false,
    stopContainer: (_: string, graceSeconds: number) => {
      graces.push(graceSeconds);
      return graces.length < 4 ? Promise.reject(new Error('connect ECONNREFUSED')) : Promise.resolve();
    },
  };
  const container = new CriContainer({
    ...{ client: runtime as unknown as CriClient, clock, runtimeName: 'r', id: 'c', logFile: '/nowhere' },
    memoryCapacityBytes: 1,
    look: () => undefined,
  });
  container.stop(2_000);
  for (let second = 0; second < 10; second += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1_000);
  }
  expect(graces).toEqual([2, 1, 0, 0]);
});

test('memory that ran out is the reason also where the runtime says so after the exit', async () => {
  const [{ reason }, asked] = await exitOf(['Error', 'Error', 'OOMKilled']);
  expect({ reason, asked }).toEqual({ reason: 'OOMKilled', asked: 3 });
});

test('a container killed for another reason is asked about for a second, a stopped one once', async () => {
  expect(await exitOf(['Error'])).toEqual([expect.objectContaining({ reason: 'Error' }), 10]);
  expect(await exitOf(['Error'], true)).toEqual([expect.objectContaining({ reason: 'Error' }), 1]);
});
