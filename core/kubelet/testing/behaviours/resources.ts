import type { V1Pod } from '../../../api/schema/index.ts';
import type { Behaviour, PodInProgress } from './behaviour.ts';

const NO_PROCESS = 'simulated containers have no process of the system';
const sh = (script: string): string[] => ['/bin/sh', '-c', script];

const resources: readonly Behaviour[] = [
  {
    name: 'limits',
    notSimulated: NO_PROCESS,
    spec: {
      containers: [
        {
          name: 'main',
          resources: { limits: { cpu: '500m', memory: '32Mi' }, requests: { cpu: '250m', memory: '32Mi' } },
        },
      ],
    },
    claims: [
      {
        claim: 'limits.memory bounds the cgroup',
        sh: 'cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null',
        prints: '33554432',
      },
      {
        claim: 'limits.cpu is a quota',
        sh: 'cut -d " " -f 1 /sys/fs/cgroup/cpu.max 2>/dev/null || cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us',
        prints: '50000',
      },
    ],
  },
  {
    name: 'out-of-memory',
    annotations: { 'simulation.pilothouse.dev/memory': '64Mi' },
    spec: {
      containers: [
        {
          name: 'main',
          command: sh('x=a; while true; do x=$x$x; done'),
          resources: { limits: { memory: '16Mi' } },
        },
      ],
    },
    claims: [
      {
        claim: 'a container beyond its memory is OOMKilled',
        see: ({ status }) => [
          status.containerStatuses?.[0]?.state?.terminated?.exitCode,
          status.containerStatuses?.[0]?.state?.terminated?.reason,
        ],
        is: [137, 'OOMKilled'],
      },
      {
        claim: 'a pod whose container is OOMKilled has Failed',
        see: ({ status }) => status.phase,
        is: 'Failed',
      },
    ],
  },
];

const LIMIT = 'cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null';
const runs = (run: PodInProgress): Promise<void> =>
  run.until('Running', () => run.status().containerStatuses?.[0]?.state?.running);
const resized = (pod: V1Pod, amounts: Readonly<Record<string, string>>): V1Pod => ({
  ...pod,
  metadata: { ...pod.metadata, generation: 2 },
  spec: {
    ...pod.spec!,
    containers: pod.spec!.containers.map((one) => ({
      ...one,
      resources: { limits: { ...amounts }, requests: { ...amounts } },
    })),
  },
});
const told = (run: PodInProgress, reason: string): Promise<void> =>
  run.until(reason, () => run.events.some((event) => event.split(' ')[1] === reason));
const small = { cpu: '100m', memory: '32Mi' };

const resizes: readonly Behaviour[] = [
  {
    name: 'resize',
    spec: {
      containers: [
        {
          name: 'main',
          command: sh(
            `trap "exit 0" TERM; until [ "$(${LIMIT})" = 67108864 ]; do sleep 0.1; done; echo larger; while true; do sleep 0.1; done`,
          ),
          resources: { limits: small, requests: small },
        },
      ],
    },
    story: async (run) => {
      await runs(run);
      run.update((pod) => resized(pod, { cpu: '200m', memory: '64Mi' }));
      await told(run, 'ResizeCompleted');
      if (run.worker.runtime.name !== 'simulated')
        await run.until('the limit of the cgroup', async () =>
          (await run.logs())['main']?.includes('larger'),
        );
    },
    claims: [
      {
        claim: 'a container is resized in place, without a restart',
        see: ({ status }) => status.containerStatuses?.[0]?.restartCount,
        is: 0,
      },
      {
        claim: 'the status has the resources that are in effect',
        see: ({ status }) => status.containerStatuses?.[0]?.resources?.limits,
        is: { cpu: '200m', memory: '64Mi' },
      },
      {
        claim: 'the status has the resources that are allocated',
        see: ({ status }) => status.containerStatuses?.[0]?.allocatedResources,
        is: { cpu: '200m', memory: '64Mi' },
      },
      {
        claim: 'begin and end of a resize are told',
        see: ({ events }) =>
          events.map((event) => event.split(' ')[1]).filter((reason) => reason?.startsWith('Resize')),
        is: ['ResizeStarted', 'ResizeCompleted'],
      },
      {
        claim: 'a resize in progress is a condition',
        see: ({ history }) =>
          history.some(({ conditions }) => conditions?.some(({ type }) => type === 'PodResizeInProgress')),
        is: true,
      },
      {
        claim: 'a resize that is done leaves no condition',
        see: ({ status }) => status.conditions?.some(({ type }) => type.startsWith('PodResize')),
        is: false,
      },
      {
        claim: 'the cgroup of a running container has the new limit',
        see: ({ logs }) => logs['main'],
        is: ['larger'],
        notSimulated: NO_PROCESS,
      },
    ],
  },
  {
    name: 'resize-restart',
    spec: {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 20,
      containers: [
        {
          name: 'main',
          command: sh('trap "exit 0" TERM; while true; do sleep 0.1; done'),
          resources: { limits: small, requests: small },
          resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }],
        },
      ],
    },
    story: async (run) => {
      await runs(run);
      run.update((pod) => resized(pod, { cpu: '100m', memory: '64Mi' }));
      await run.until('a restart', () => {
        const [main] = run.status().containerStatuses ?? [];
        return main?.restartCount === 1 && main.state?.running;
      });
    },
    claims: [
      {
        claim: 'a resource with policy RestartContainer restarts its container',
        see: ({ events }) => events.includes('Normal Killing Container main resize requires restart'),
        is: true,
      },
      {
        claim: 'a container that was restarted for it has the new resources',
        see: ({ status }) => status.containerStatuses?.[0]?.resources?.limits?.['memory'],
        is: '64Mi',
      },
    ],
  },
  {
    name: 'resize-pending',
    spec: {
      containers: [
        {
          name: 'main',
          command: sh('trap "exit 0" TERM; while true; do sleep 0.1; done'),
          resources: { limits: small, requests: small },
        },
      ],
    },
    story: async (run) => {
      await runs(run);
      run.update((pod) => resized(pod, { cpu: '100', memory: '32Mi' }));
      await run.until('a condition', () =>
        run.status().conditions?.some(({ type }) => type === 'PodResizePending'),
      );
    },
    claims: [
      {
        claim: 'a resize that the node has no room for is PodResizePending',
        see: ({ status }) =>
          status.conditions
            ?.filter(({ type }) => type === 'PodResizePending')
            .map(({ status: is, reason, message }) => ({ is, reason, message })),
        is: [
          {
            is: 'True',
            reason: 'OutOfcpu',
            message: "Node didn't have enough resource: cpu, requested: 100000, used: 0, capacity: 4000",
          },
        ],
      },
      {
        claim: 'a resize that waits changes nothing',
        see: ({ status }) => status.containerStatuses?.[0]?.resources?.limits,
        is: small,
      },
      {
        claim: 'a resize that waits is told',
        see: ({ events }) =>
          events.some((event) => event.startsWith('Warning ResizeDeferred Pod resize OutOfcpu:')),
        is: true,
      },
    ],
  },
];

export const resourceBehaviours: readonly Behaviour[] = [...resources, ...resizes];
