import { expect, test } from 'vitest';
import type { V1Pod } from '../../api/schema/index.ts';
import { durable } from '../testing/durable-runtime.ts';
import { container, pod, world, type World } from '../testing/world.ts';
import type { PodWorker } from './pod-worker.ts';

const SIMULATION = 'simulation.pilothouse.dev/';

const durableWorld = (): World & { readonly runtime: ReturnType<typeof durable> } => {
  let runtime: ReturnType<typeof durable>;
  const made = world({ wrap: (inner, clock) => (runtime = durable(inner, () => clock.nowMs())) });
  return { ...made, runtime: runtime! };
};

/** The pod as the API has it once its status was written. */
const reported = (worker: PodWorker): V1Pod => ({ ...worker.pod, status: worker.status! });

const shown = (worker: PodWorker) =>
  worker.status?.containerStatuses?.map(({ name, restartCount, ready, state, lastState }) => ({
    name,
    restartCount,
    ready,
    state: Object.keys(state ?? {})[0],
    last: lastState?.terminated?.exitCode,
  }));

test('the next kubelet adopts what runs, starts nothing twice and keeps counts and readiness', async () => {
  const { run, advance, runtime } = durableWorld();
  const subject = pod({
    initContainers: [container('init', { command: ['sh', '-c', 'exit 0'] })],
    containers: [
      container('app', { readinessProbe: { exec: { command: ['true'] }, initialDelaySeconds: 60 } }),
    ],
  });
  const first = run(subject);
  for (let i = 0; i < 70; i += 1) await advance(1_000);
  const id = first.status?.containerStatuses?.[0]?.containerID;
  expect(shown(first)).toEqual([
    { name: 'app', restartCount: 0, ready: true, state: 'running', last: undefined },
  ]);
  first.abandon();
  const next = run(reported(first));
  await advance(0);
  expect(shown(next)).toEqual([
    { name: 'app', restartCount: 0, ready: true, state: 'running', last: undefined },
  ]);
  expect(next.status?.containerStatuses?.[0]?.containerID).toBe(id);
  expect(next.status?.podIP).toBe(first.status?.podIP);
  expect(runtime.started).toEqual(['init/0/0', 'app/0/0']);
});

test('a container that ended while no kubelet ran is restarted once, with its exit code', async () => {
  const { run, advance, runtime } = durableWorld();
  const first = run(
    pod({}, { annotations: { [`${SIMULATION}exit-after`]: '30s', [`${SIMULATION}exit-code`]: '7' } }),
  );
  await advance(1_000);
  const before = reported(first);
  first.abandon();
  await advance(40_000);
  const next = run(before);
  await advance(1_000);
  await advance(20_000);
  expect(shown(next)).toEqual([{ name: 'app', restartCount: 1, ready: true, state: 'running', last: 7 }]);
  expect(runtime.started).toEqual(['app/0/0', 'app/0/1']);
});

test('a pod that was deleted meanwhile is stopped, not forgotten', async () => {
  const { run, advance, terminated, events } = durableWorld();
  const first = run(pod({ terminationGracePeriodSeconds: 5 }));
  await advance(0);
  first.abandon();
  const next = run(reported(first));
  next.terminate({});
  await advance(10_000);
  expect(terminated).toEqual(['uid-1']);
  expect(events).toContain('Normal Killing Stopping container app');
});

test('a sandbox that ends is replaced, and containers begin again from the init containers on', async () => {
  const { run, advance, runtime, events } = durableWorld();
  const worker = run(
    pod({
      initContainers: [container('init', { command: ['sh', '-c', 'exit 0'] })],
      containers: [container('app')],
    }),
  );
  await advance(1_000);
  runtime.endSandbox('uid-1');
  for (let i = 0; i < 20; i += 1) await advance(1_000);
  expect(runtime.started).toEqual(['init/0/0', 'app/0/0', 'init/1/1', 'app/1/1']);
  expect(shown(worker)).toMatchObject([{ name: 'app', restartCount: 1, state: 'running' }]);
  expect(events).toContain('Normal SandboxChanged Pod sandbox changed, it will be killed and re-created.');
});

test('a pod that is never restarted ends with its sandbox', async () => {
  const { run, advance, runtime, terminated } = durableWorld();
  const worker = run(
    pod({ restartPolicy: 'Never', containers: [container('app', { command: ['sleep', '1000'] })] }),
  );
  await advance(1_000);
  runtime.endSandbox('uid-1');
  for (let i = 0; i < 5; i += 1) await advance(1_000);
  expect(terminated).toEqual(['uid-1']);
  expect(worker.status?.phase).toMatch(/Failed|Succeeded/);
  expect(runtime.started).toEqual(['app/0/0']);
});
