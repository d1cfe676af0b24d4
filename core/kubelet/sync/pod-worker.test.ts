import { expect, test } from 'vitest';
import { conditionsOf, container, logOfRecord, noObjects, pod, settle, world } from '../testing/world.ts';

const SIMULATION = 'simulation.pilothouse.dev/';

test('a pod is created, started and ready, with upstream’s events and conditions', async () => {
  const { run, events, statuses } = world();
  const worker = run(pod({}));
  await settle();
  expect(events).toEqual([
    'Normal Pulling Pulling image "registry.test/app:v1"',
    expect.stringMatching(
      /^Normal Pulled Successfully pulled image "registry.test\/app:v1" in 0s \(0s including waiting\). Image size: \d+ bytes.$/,
    ),
    'Normal Created Container created',
    'Normal Started Container started',
  ]);
  expect(statuses[0]).toMatchObject({
    phase: 'Pending',
    containerStatuses: [
      { state: { waiting: { reason: 'ContainerCreating' } }, ready: false, started: false },
    ],
  });
  expect(worker.status).toMatchObject({
    phase: 'Running',
    hostIP: '127.77.0.1',
    podIP: '127.77.1.1',
    startTime: '2026-01-01T00:00:00Z',
    containerStatuses: [
      {
        name: 'app',
        ready: true,
        started: true,
        restartCount: 0,
        state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
      },
    ],
  });
  expect(conditionsOf(worker.status)).toEqual([
    'PodReadyToStartContainers=True',
    'Initialized=True',
    'Ready=True',
    'ContainersReady=True',
    'PodScheduled=True',
  ]);
});

test('a container that crashes is restarted immediately, then after 10 s, 20 s, 40 s', async () => {
  const { run, advance, events, clock } = world();
  const worker = run(pod({}, { annotations: { [`${SIMULATION}crash-after`]: '1s' } }));
  const restartsAfter: number[] = [];
  let count = 0;
  const beganMs = clock.nowMs();
  for (let second = 0; second < 90; second += 1) {
    await advance(1_000);
    const restarts = worker.status?.containerStatuses?.[0]?.restartCount ?? 0;
    if (restarts > count) restartsAfter.push((clock.nowMs() - beganMs) / 1000);
    count = restarts;
  }
  // Each run lasts a second: crash, restart, crash, 10 s, crash, 20 s, crash, 40 s.
  expect(restartsAfter).toEqual([1, 12, 33, 74]);
  expect(events).toContain(
    'Warning BackOff Back-off restarting failed container app in pod web_default(uid-1)',
  );
});

test('while it backs off a container waits in CrashLoopBackOff and shows its last exit', async () => {
  const { run, advance } = world();
  const worker = run(
    pod({}, { annotations: { [`${SIMULATION}crash-after`]: '1s', [`${SIMULATION}exit-code`]: '3' } }),
  );
  await advance(1_000);
  await advance(1_000);
  expect(worker.status).toMatchObject({
    phase: 'Running',
    containerStatuses: [
      {
        state: {
          waiting: {
            reason: 'CrashLoopBackOff',
            message: 'back-off 10s restarting failed container=app pod=web_default(uid-1)',
          },
        },
        lastState: { terminated: { exitCode: 3, reason: 'Error' } },
        restartCount: 1,
        ready: false,
      },
    ],
  });
});

test('init containers run one after the other, a sidecar before them stays', async () => {
  const { run, advance } = world();
  const worker = run(
    pod({
      initContainers: [container('proxy', { restartPolicy: 'Always' }), container('one'), container('two')],
    }),
  );
  const running = () =>
    [...(worker.status?.initContainerStatuses ?? []), ...(worker.status?.containerStatuses ?? [])]
      .filter(({ state }) => state?.running)
      .map(({ name }) => name);
  await settle();
  const seen = [running()];
  for (let i = 0; i < 2; i += 1) {
    await advance(1_000);
    seen.push(running());
  }
  expect(seen).toEqual([
    ['proxy', 'one'],
    ['proxy', 'two'],
    ['proxy', 'app'],
  ]);
  expect(worker.status?.phase).toBe('Running');
});

test('an init container that fails for good fails the pod', async () => {
  const { run, advance, terminated } = world();
  const worker = run(
    pod(
      { restartPolicy: 'Never', initContainers: [container('setup')] },
      { annotations: { [`${SIMULATION}exit-code.setup`]: '2' } },
    ),
  );
  await advance(1_000);
  expect(worker.status).toMatchObject({
    phase: 'Failed',
    initContainerStatuses: [{ state: { terminated: { exitCode: 2 } } }],
    containerStatuses: [{ state: { waiting: { reason: 'PodInitializing' } } }],
  });
  expect(terminated).toEqual(['uid-1']);
});

test('a task ends in Succeeded and its sidecar is stopped after it', async () => {
  const { run, advance, events } = world();
  const worker = run(
    pod({
      restartPolicy: 'Never',
      containers: [container('job', { command: ['sh', '-c', 'echo hello; sleep 3; exit 0'] })],
      initContainers: [container('proxy', { restartPolicy: 'Always' })],
    }),
  );
  await advance(3_000);
  await advance(0);
  expect(events).toContain('Normal Killing Stopping container proxy');
  expect(worker.status).toMatchObject({
    phase: 'Succeeded',
    containerStatuses: [{ state: { terminated: { exitCode: 0, reason: 'Completed' } } }],
  });
  expect(conditionsOf(worker.status)).toContain('Ready=False');
  expect(await logOfRecord(worker.records.find(({ spec }) => spec.name === 'job'))).toEqual(['hello']);
});

test('an image that cannot be resolved is ErrImagePull, then ImagePullBackOff', async () => {
  const { run, advance, events } = world();
  const worker = run(pod({ containers: [container('app', { image: 'shop:missing' })] }));
  await settle();
  const reason = () => worker.status?.containerStatuses?.[0]?.state?.waiting?.reason;
  expect([reason(), worker.status?.phase]).toEqual(['ErrImagePull', 'Pending']);
  await advance(2_000);
  expect(reason()).toBe('ImagePullBackOff');
  expect(events.slice(0, 5)).toEqual([
    'Normal Pulling Pulling image "shop:missing"',
    'Warning Failed Failed to pull image "shop:missing": failed to pull and unpack image "docker.io/library/shop:missing": failed to resolve reference "docker.io/library/shop:missing": docker.io/library/shop:missing: not found',
    'Warning Failed Error: ErrImagePull',
    'Normal BackOff Back-off pulling image "shop:missing"',
    'Warning Failed Error: ImagePullBackOff',
  ]);
});

test('a deleted pod runs preStop, stops its containers and ends Failed or Succeeded by their exits', async () => {
  const { run, advance, events, terminated } = world();
  const subject = pod(
    {
      terminationGracePeriodSeconds: 30,
      containers: [
        container('app', { lifecycle: { preStop: { sleep: { seconds: 5 } } } }),
        container('stubborn'),
      ],
    },
    { annotations: { [`${SIMULATION}stop-delay.stubborn`]: 'never' } },
  );
  const worker = run(subject);
  await settle();
  worker.update({
    ...subject,
    metadata: {
      ...subject.metadata,
      deletionTimestamp: '2026-01-01T00:00:30Z',
      deletionGracePeriodSeconds: 30,
    },
  });
  await advance(4_000);
  expect(worker.status?.containerStatuses?.map(({ state }) => Object.keys(state ?? {}))).toEqual([
    ['running'],
    ['running'],
  ]);
  await advance(1_000);
  expect(worker.status?.containerStatuses?.map(({ state }) => Object.keys(state ?? {}))).toEqual([
    ['terminated'],
    ['running'],
  ]);
  expect(worker.status?.phase).toBe('Running');
  await advance(25_000);
  expect(worker.status).toMatchObject({
    phase: 'Failed',
    containerStatuses: [
      { state: { terminated: { exitCode: 0 } } },
      { state: { terminated: { exitCode: 137, signal: 9 } } },
    ],
  });
  expect(events.filter((event) => event.includes('Killing'))).toEqual([
    'Normal Killing Stopping container app',
    'Normal Killing Stopping container stubborn',
  ]);
  expect(terminated).toEqual(['uid-1']);
});

test('a second deletion with less grace shortens the wait', async () => {
  const { run, advance, terminated } = world();
  const subject = pod({}, { annotations: { [`${SIMULATION}stop-delay`]: 'never' } });
  const worker = run(subject);
  await settle();
  worker.terminate({ graceSeconds: 600 });
  await advance(1_000);
  worker.terminate({ graceSeconds: 3 });
  await advance(3_000);
  expect(terminated).toEqual(['uid-1']);
});

test('a pod past its deadline fails with DeadlineExceeded', async () => {
  const { run, advance, events } = world();
  const worker = run(pod({ activeDeadlineSeconds: 60 }));
  await advance(59_000);
  expect(worker.status?.phase).toBe('Running');
  await advance(1_000);
  expect(worker.status).toMatchObject({
    phase: 'Failed',
    reason: 'DeadlineExceeded',
    message: 'Pod was active on the node longer than the specified deadline',
  });
  expect(events).toContain(
    'Normal DeadlineExceeded Pod was active on the node longer than the specified deadline',
  );
});

test('readiness follows its probe, and a readiness gate holds the pod back', async () => {
  const { run, advance, events } = world();
  const subject = pod(
    {
      readinessGates: [{ conditionType: 'example.com/lb' }],
      containers: [container('app', { readinessProbe: { httpGet: { port: 80 }, periodSeconds: 1 } })],
    },
    { annotations: { [`${SIMULATION}not-ready`]: '5s' } },
  );
  const worker = run(subject);
  for (let second = 0; second < 4; second += 1) await advance(1_000);
  expect(conditionsOf(worker.status)).toContain('ContainersReady=False');
  expect(events).toContain(
    'Warning Unhealthy Readiness probe failed: HTTP probe failed with statuscode: 503',
  );
  await advance(1_000);
  expect(worker.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
    status: 'False',
    reason: 'ReadinessGatesNotReady',
    message: 'corresponding condition of pod readiness gate "example.com/lb" does not exist.',
  });
  worker.update({ ...subject, status: { conditions: [{ type: 'example.com/lb', status: 'True' }] } });
  await settle();
  expect(conditionsOf(worker.status)).toContain('Ready=True');
});

test('a container that loses its liveness is killed and restarted', async () => {
  const { run, advance, events } = world();
  const worker = run(
    pod(
      {
        containers: [
          container('app', {
            livenessProbe: { tcpSocket: { port: 80 }, periodSeconds: 1, failureThreshold: 2 },
          }),
        ],
      },
      { annotations: { [`${SIMULATION}unhealthy-after`]: '10s' } },
    ),
  );
  for (let second = 0; second < 12; second += 1) await advance(1_000);
  expect(events).toContain('Normal Killing Container app failed liveness probe, will be restarted');
  expect(worker.status?.containerStatuses?.[0]).toMatchObject({ restartCount: 1, state: { running: {} } });
});

test('a startup probe holds back the others and the start', async () => {
  const { run, advance } = world();
  const worker = run(
    pod(
      {
        containers: [
          container('app', {
            startupProbe: { httpGet: { port: 80 }, periodSeconds: 1, failureThreshold: 10 },
            readinessProbe: { httpGet: { port: 80 }, periodSeconds: 1 },
          }),
        ],
      },
      { annotations: { [`${SIMULATION}startup-time`]: '3s' } },
    ),
  );
  for (let second = 0; second < 2; second += 1) await advance(1_000);
  expect(worker.status?.containerStatuses?.[0]).toMatchObject({ started: false, ready: false });
  for (let second = 0; second < 2; second += 1) await advance(1_000);
  expect(worker.status?.containerStatuses?.[0]).toMatchObject({ started: true, ready: true });
});

test('a missing ConfigMap holds a mounted volume back and an environment in CreateContainerConfigError', async () => {
  const { run, events } = world();
  run(pod({ volumes: [{ name: 'config', configMap: { name: 'settings' } }] }));
  const other = run(
    pod(
      { containers: [container('app', { envFrom: [{ configMapRef: { name: 'settings' } }] })] },
      { name: 'b' },
    ),
  );
  await settle();
  expect(events).toContain(
    'Warning FailedMount MountVolume.SetUp failed for volume "config" : configmap "settings" not found',
  );
  expect(other.status?.containerStatuses?.[0]?.state).toEqual({
    waiting: { reason: 'CreateContainerConfigError', message: 'configmap "settings" not found' },
  });
});

test('a token that cannot be had yet holds the container back: its command is not lost', async () => {
  let refusals = 1;
  const token = (): Promise<string> =>
    refusals-- > 0
      ? Promise.reject(new Error('no relationship found between node and pod'))
      : Promise.resolve('token');
  const { run, advance } = world({ objects: { ...noObjects, token } });
  const worker = run(
    pod({
      restartPolicy: 'Never',
      volumes: [{ name: 'api', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }],
      containers: [
        container('app', {
          command: ['sh', '-c', 'cat /api/token && exit 5'],
          volumeMounts: [{ name: 'api', mountPath: '/api' }],
        }),
      ],
    }),
  );
  await settle();
  expect(worker.status?.containerStatuses?.[0]?.state?.waiting).toEqual({
    reason: 'CreateContainerConfigError',
    message:
      'MountVolume.SetUp failed for volume "api" : failed to fetch token: no relationship found between node and pod',
  });
  for (let second = 0; second < 20; second += 1) await advance(1_000);
  expect(worker.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 5 });
});

test('after a restart of the kubelet a pod that ran counts one restart more', async () => {
  const { run } = world();
  const worker = run({
    ...pod({}),
    status: {
      phase: 'Running',
      podIP: '127.77.1.9',
      startTime: '2025-12-31T00:00:00Z',
      containerStatuses: [
        {
          name: 'app',
          image: 'x',
          imageID: '',
          ready: true,
          restartCount: 4,
          containerID: 'simulated://old',
          state: { running: { startedAt: '2025-12-31T00:00:00Z' } },
        },
      ],
    },
  });
  await settle();
  expect(worker.status).toMatchObject({
    phase: 'Running',
    podIP: '127.77.1.9',
    startTime: '2025-12-31T00:00:00Z',
    containerStatuses: [
      {
        restartCount: 5,
        state: { running: {} },
        lastState: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } },
      },
    ],
  });
});
