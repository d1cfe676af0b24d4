import type { V1Container } from '../../../api/schema/index.ts';
import type { Behaviour, PodInProgress, Seen } from './behaviour.ts';

const sh = (script: string): string[] => ['/bin/sh', '-c', script];
const v = { volumes: [{ name: 'v', emptyDir: {} }] };
const volumeMounts = [{ name: 'v', mountPath: '/v' }];
/** Runs until SIGTERM, and ends then without a failure. */
const WAITS = 'trap "exit 0" TERM; while true; do sleep 0.1; done';
const waits = (name: string, rest: Partial<V1Container> = {}): V1Container => ({
  name,
  command: sh(WAITS),
  ...rest,
});
const conditions = ({ status }: Pick<Seen, 'status'>): Record<string, string> =>
  Object.fromEntries((status.conditions ?? []).map(({ type, status: is }) => [type, is]));
const ready = (run: PodInProgress): Promise<void> =>
  run.until('Ready', () => conditions({ status: run.status() })['Ready'] === 'True');
const restarted = (run: PodInProgress): Promise<void> =>
  run.until('a restart', () => (run.status().containerStatuses?.[0]?.restartCount ?? 0) > 0);
const server: V1Container = {
  name: 'main',
  command: sh('echo ok > /tmp/index.html; exec httpd -f -p 8080 -h /tmp'),
  ports: [{ name: 'web', containerPort: 8080 }],
};

const initContainers: readonly Behaviour[] = [
  {
    name: 'init-order',
    spec: {
      ...v,
      initContainers: [
        { name: 'first', command: sh('echo 1 >> /v/order'), volumeMounts },
        { name: 'second', command: sh('echo 2 >> /v/order'), volumeMounts },
      ],
      containers: [{ name: 'main', command: sh('cat /v/order'), volumeMounts }],
    },
    claims: [
      {
        claim: 'init containers run one after the other, before the containers of the pod',
        see: ({ logs }) => logs['main'],
        is: ['1', '2'],
      },
      {
        claim: 'an init container that is done is ready',
        see: ({ status }) =>
          status.initContainerStatuses?.map((one) => [one.name, one.ready, one.state?.terminated?.exitCode]),
        is: [
          ['first', true, 0],
          ['second', true, 0],
        ],
      },
      {
        claim: 'containers wait as PodInitializing',
        see: ({ history }) =>
          history.some(
            (status) => status.containerStatuses?.[0]?.state?.waiting?.reason === 'PodInitializing',
          ),
        is: true,
      },
      { claim: 'Initialized becomes True', see: (seen) => conditions(seen)['Initialized'], is: 'True' },
    ],
  },
  {
    name: 'init-failing',
    spec: {
      initContainers: [
        { name: 'first', command: sh('exit 1') },
        { name: 'second', command: sh('true') },
      ],
      containers: [{ name: 'main', command: sh('true') }],
    },
    claims: [
      {
        claim: 'an init container that fails ends a pod of restartPolicy Never',
        see: ({ status }) => status.phase,
        is: 'Failed',
      },
      {
        claim: 'what comes after it is not started',
        see: ({ status }) => [
          status.initContainerStatuses?.[1]?.state?.waiting?.reason,
          status.containerStatuses?.[0]?.state?.waiting?.reason,
        ],
        is: ['PodInitializing', 'PodInitializing'],
      },
      { claim: 'Initialized stays False', see: (seen) => conditions(seen)['Initialized'], is: 'False' },
    ],
  },
  {
    name: 'init-retry',
    spec: {
      ...v,
      restartPolicy: 'OnFailure',
      initContainers: [
        { name: 'first', command: sh('if [ -e /v/x ]; then exit 0; fi; touch /v/x; exit 1'), volumeMounts },
      ],
      containers: [{ name: 'main', command: sh('true') }],
    },
    claims: [
      {
        claim: 'an init container that fails is tried again',
        see: ({ status }) => [status.initContainerStatuses?.[0]?.restartCount, status.phase],
        is: [1, 'Succeeded'],
      },
    ],
  },
  {
    name: 'sidecar',
    spec: {
      ...v,
      terminationGracePeriodSeconds: 20,
      initContainers: [
        {
          name: 'side',
          restartPolicy: 'Always',
          command: sh(`touch /v/up; trap "echo stopped; exit 0" TERM; while true; do sleep 0.1; done`),
          volumeMounts,
          startupProbe: { exec: { command: ['test', '-e', '/v/up'] }, periodSeconds: 1 },
        },
        { name: 'after', command: sh('ls /v'), volumeMounts },
      ],
      containers: [{ name: 'main', command: sh('ls /v; echo done'), volumeMounts }],
    },
    claims: [
      {
        claim: 'a sidecar has started before the init container after it',
        see: ({ logs }) => logs['after'],
        is: ['up'],
      },
      {
        claim: 'a sidecar runs beside the containers of the pod',
        see: ({ history }) =>
          history.some(
            (status) =>
              status.initContainerStatuses?.[0]?.state?.running &&
              status.containerStatuses?.[0]?.state?.terminated,
          ),
        is: true,
      },
      {
        claim: 'a sidecar does not keep a pod from its end',
        see: ({ status }) => status.phase,
        is: 'Succeeded',
      },
      {
        claim: 'a sidecar is stopped with SIGTERM once the others have ended',
        see: ({ logs }) => logs['side'],
        is: ['stopped'],
      },
    ],
  },
  {
    name: 'sidecar-restart',
    spec: {
      ...v,
      initContainers: [
        {
          name: 'side',
          restartPolicy: 'Always',
          command: sh(`if [ -e /v/x ]; then touch /v/y; ${WAITS}; fi; touch /v/x; exit 1`),
          volumeMounts,
        },
      ],
      containers: [
        { name: 'main', command: sh('until [ -e /v/y ]; do sleep 0.1; done; exit 0'), volumeMounts },
      ],
    },
    claims: [
      {
        claim: 'a sidecar is restarted, also in a pod of restartPolicy Never',
        see: ({ status }) => [(status.initContainerStatuses?.[0]?.restartCount ?? 0) > 0, status.phase],
        is: [true, 'Succeeded'],
      },
    ],
  },
  {
    name: 'ephemeral',
    spec: { terminationGracePeriodSeconds: 20, containers: [waits('main')] },
    story: async (run) => {
      await ready(run);
      run.update((pod) => ({
        ...pod,
        spec: {
          ...pod.spec!,
          ephemeralContainers: [
            {
              name: 'look',
              image: pod.spec!.containers[0]!.image!,
              command: sh('hostname; exit 9'),
              targetContainerName: 'main',
              imagePullPolicy: 'IfNotPresent',
            },
          ],
        },
      }));
      await run.until('its end', () => run.status().ephemeralContainerStatuses?.[0]?.state?.terminated);
    },
    claims: [
      {
        claim: 'an ephemeral container runs in a pod that runs',
        see: ({ logs }) => logs['look'],
        is: ['ephemeral'],
      },
      {
        claim: 'an ephemeral container that failed is not restarted',
        see: ({ status }) => [
          status.ephemeralContainerStatuses?.[0]?.state?.terminated?.exitCode,
          status.ephemeralContainerStatuses?.[0]?.restartCount,
        ],
        is: [9, 0],
      },
      {
        claim: 'an ephemeral container does not change the pod',
        see: (seen) => [seen.status.phase, conditions(seen)['Ready']],
        is: ['Running', 'True'],
      },
    ],
  },
  {
    name: 'ephemeral-target',
    notSimulated: 'simulated containers have one process each',
    spec: {
      terminationGracePeriodSeconds: 20,
      containers: [{ name: 'main', command: sh('trap "exit 0" TERM; while true; do sleep 0.123; done') }],
    },
    story: async (run) => {
      await ready(run);
      run.update((pod) => ({
        ...pod,
        spec: {
          ...pod.spec!,
          ephemeralContainers: [
            {
              name: 'look',
              image: pod.spec!.containers[0]!.image!,
              command: sh('tr "\\0" " " < /proc/1/cmdline'),
              targetContainerName: 'main',
              imagePullPolicy: 'IfNotPresent',
            },
          ],
        },
      }));
      await run.until('its end', () => run.status().ephemeralContainerStatuses?.[0]?.state?.terminated);
    },
    claims: [
      {
        claim: 'targetContainerName shows the processes of a container',
        see: ({ logs }) => logs['look']?.[0]?.includes('sleep 0.123'),
        is: true,
      },
    ],
  },
];

const probes: readonly Behaviour[] = [
  {
    name: 'probes-http',
    spec: {
      containers: [
        {
          ...server,
          readinessProbe: { httpGet: { path: '/', port: 'web' }, periodSeconds: 1 },
          livenessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
          startupProbe: {
            httpGet: { path: '/index.html', port: 8080 },
            periodSeconds: 1,
            failureThreshold: 30,
          },
        },
      ],
    },
    story: ready,
    claims: [
      {
        claim: 'a pod is Ready when its readiness probe has succeeded',
        see: (seen) => [conditions(seen)['Ready'], conditions(seen)['ContainersReady']],
        is: ['True', 'True'],
      },
      {
        claim: 'a pod is not Ready before',
        see: ({ history }) =>
          history.some(
            (status) => status.containerStatuses?.[0]?.state?.running && !status.containerStatuses[0].ready,
          ),
        is: true,
      },
      {
        claim: 'a startup probe that succeeded makes a container started',
        see: ({ status }) => status.containerStatuses?.[0]?.started,
        is: true,
      },
      {
        claim: 'probes over HTTP and TCP restart nothing that answers',
        see: ({ status }) => status.containerStatuses?.[0]?.restartCount,
        is: 0,
      },
    ],
  },
  {
    name: 'probe-http-status',
    spec: {
      containers: [
        {
          ...server,
          readinessProbe: {
            httpGet: { path: '/status/404', port: 8080 },
            periodSeconds: 1,
            failureThreshold: 1,
          },
        },
      ],
    },
    story: (run) => run.until('Unhealthy', () => run.events.some((event) => event.includes('statuscode'))),
    claims: [
      {
        claim: 'an answer of 400 and more fails a probe over HTTP',
        see: ({ events }) =>
          events.includes('Warning Unhealthy Readiness probe failed: HTTP probe failed with statuscode: 404'),
        is: true,
      },
      {
        claim: 'a pod whose readiness fails runs and is not Ready',
        see: (seen) => [
          seen.status.phase,
          conditions(seen)['Ready'],
          seen.status.containerStatuses?.[0]?.restartCount,
        ],
        is: ['Running', 'False', 0],
      },
      {
        claim: 'Ready tells which containers are unready',
        see: ({ status }) => status.conditions?.find(({ type }) => type === 'Ready')?.message,
        is: 'containers with unready status: [main]',
      },
    ],
  },
  {
    name: 'probe-exec',
    spec: {
      ...v,
      containers: [
        waits('main', {
          volumeMounts,
          readinessProbe: {
            exec: { command: sh('echo not yet; test -e /v/ready') },
            periodSeconds: 1,
            failureThreshold: 1,
          },
        }),
      ],
    },
    story: async (run) => {
      await run.until('Unhealthy', () => run.events.some((event) => event.includes('not yet')));
      await run.worker.records[0]!.current!.container.run({
        command: ['touch', '/v/ready'],
        timeoutMs: 10_000,
        outputBytesMax: 10,
      });
      await ready(run);
    },
    claims: [
      {
        claim: 'the output of a command that fails is told',
        see: ({ events }) =>
          events.includes('Warning Unhealthy Readiness probe failed: not yet\n') ||
          events.includes('Warning Unhealthy Readiness probe failed: not yet'),
        is: true,
      },
      {
        claim: 'a container becomes ready once its command succeeds',
        see: (seen) => conditions(seen)['Ready'],
        is: 'True',
      },
    ],
  },
  {
    name: 'probe-liveness',
    spec: {
      ...v,
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 20,
      containers: [
        waits('main', {
          livenessProbe: { exec: { command: sh('exit 1') }, periodSeconds: 1, failureThreshold: 1 },
        }),
      ],
    },
    story: restarted,
    claims: [
      {
        claim: 'a liveness probe that fails restarts the container',
        see: ({ status }) => (status.containerStatuses?.[0]?.restartCount ?? 0) >= 1,
        is: true,
      },
      {
        claim: 'the restart is told',
        see: ({ events }) =>
          events.includes('Normal Killing Container main failed liveness probe, will be restarted'),
        is: true,
      },
      {
        claim: 'the failure is told',
        see: ({ events }) =>
          events.some((event) => event.startsWith('Warning Unhealthy Liveness probe failed:')),
        is: true,
      },
    ],
  },
  {
    name: 'probe-never',
    spec: {
      terminationGracePeriodSeconds: 20,
      containers: [
        {
          name: 'main',
          command: sh('trap "exit 6" TERM; while true; do sleep 0.1; done'),
          livenessProbe: { exec: { command: sh('exit 1') }, periodSeconds: 1, failureThreshold: 1 },
        },
      ],
    },
    claims: [
      {
        claim: 'a liveness probe that fails ends a pod of restartPolicy Never',
        see: ({ status }) => [status.phase, status.containerStatuses?.[0]?.state?.terminated?.exitCode],
        is: ['Failed', 6],
      },
    ],
  },
  {
    name: 'probe-startup',
    spec: {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 20,
      containers: [
        waits('main', {
          startupProbe: { exec: { command: ['false'] }, periodSeconds: 1, failureThreshold: 2 },
          livenessProbe: { exec: { command: sh('exit 1') }, periodSeconds: 1, failureThreshold: 1 },
        }),
      ],
    },
    story: restarted,
    claims: [
      {
        claim: 'a startup probe that keeps failing restarts the container',
        see: ({ events }) =>
          events.includes('Normal Killing Container main failed startup probe, will be restarted'),
        is: true,
      },
      {
        claim: 'liveness is not asked before the startup probe has succeeded',
        see: ({ events }) => events.some((event) => event.includes('Liveness')),
        is: false,
      },
      {
        claim: 'a container whose startup probe has not succeeded is not started',
        see: ({ history }) => history.some((status) => status.containerStatuses?.[0]?.started),
        is: false,
      },
    ],
  },
  {
    name: 'probe-timeout',
    spec: {
      containers: [
        waits('main', {
          readinessProbe: {
            exec: { command: ['sleep', '30'] },
            periodSeconds: 1,
            timeoutSeconds: 1,
            failureThreshold: 1,
          },
        }),
      ],
    },
    story: (run) => run.until('Unhealthy', () => run.events.some((event) => event.includes('timed out'))),
    claims: [
      {
        claim: 'a command that takes too long fails its probe',
        see: ({ events }) =>
          events.includes(
            'Warning Unhealthy Readiness probe failed: command timed out: [sleep 30] timed out after 1s',
          ),
        is: true,
      },
    ],
  },
  {
    name: 'probe-refused',
    notSimulated: 'a probe of a port that a simulated container does not declare succeeds',
    spec: {
      containers: [
        waits('main', {
          readinessProbe: { tcpSocket: { port: 9999 }, periodSeconds: 1, failureThreshold: 1 },
        }),
      ],
    },
    story: (run) => run.until('Unhealthy', () => run.events.some((event) => event.includes('Unhealthy'))),
    claims: [
      {
        claim: 'a port that no one listens on fails a TCP probe',
        see: ({ events }) =>
          events.some((event) =>
            /Readiness probe failed: dial tcp .*:9999: connect: connection refused/.test(event),
          ),
        is: true,
      },
    ],
  },
  {
    name: 'readiness-gate',
    spec: { readinessGates: [{ conditionType: 'example.com/feature' }], containers: [waits('main')] },
    story: async (run) => {
      await run.until(
        'ContainersReady',
        () => conditions({ status: run.status() })['ContainersReady'] === 'True',
      );
      await run.until('a reason', () =>
        run.status().conditions?.some(({ reason }) => reason === 'ReadinessGatesNotReady'),
      );
      run.update((pod) => ({
        ...pod,
        status: {
          ...run.status(),
          conditions: [...(run.status().conditions ?? []), { type: 'example.com/feature', status: 'True' }],
        },
      }));
      await ready(run);
    },
    claims: [
      {
        claim: 'a pod waits for its readiness gates',
        see: ({ history }) =>
          history.some(
            (status) =>
              conditions({ status })['ContainersReady'] === 'True' &&
              conditions({ status })['Ready'] === 'False',
          ),
        is: true,
      },
      {
        claim: 'a pod is Ready once its gates are True',
        see: (seen) => conditions(seen)['Ready'],
        is: 'True',
      },
    ],
  },
];

export const initAndProbeBehaviours: readonly Behaviour[] = [...initContainers, ...probes];
