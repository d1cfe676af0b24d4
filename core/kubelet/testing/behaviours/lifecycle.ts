import type { V1ContainerStateTerminated } from '../../../api/schema/index.ts';
import type { Behaviour, PodInProgress, Seen } from './behaviour.ts';

const sh = (script: string): string[] => ['/bin/sh', '-c', script];
const stateOf = ({ status }: Seen, index = 0) => status.containerStatuses?.[index];
const ended = (seen: Seen, index = 0): V1ContainerStateTerminated | undefined =>
  stateOf(seen, index)?.state?.terminated;
const says =
  (run: PodInProgress, container: string, text: string): (() => Promise<boolean>) =>
  async () =>
    ((await run.logs())[container] ?? []).includes(text);

/** Deletes the pod once its container has said that it runs, and waits for the end. */
const deleted =
  (graceSeconds: number) =>
  async (run: PodInProgress): Promise<void> => {
    await run.until('a line of the container', says(run, 'main', 'up'));
    run.worker.terminate({ graceSeconds });
    await run.until('the end', () => ['Succeeded', 'Failed'].includes(run.status().phase ?? ''));
  };

const exits: readonly Behaviour[] = [
  {
    name: 'success',
    spec: { containers: [{ name: 'main', command: sh('echo out; echo err >&2') }] },
    claims: [
      {
        claim: 'a pod whose containers exit with 0 has Succeeded',
        see: ({ status }) => status.phase,
        is: 'Succeeded',
      },
      {
        claim: 'exit code 0 is Completed',
        see: (seen) => [ended(seen)?.exitCode, ended(seen)?.reason],
        is: [0, 'Completed'],
      },
      {
        claim: 'an ended container has times',
        see: (seen) => [typeof ended(seen)?.startedAt, typeof ended(seen)?.finishedAt],
        is: ['string', 'string'],
      },
      {
        claim: 'an ended container has its identity',
        see: (seen) => ended(seen)?.containerID === stateOf(seen)?.containerID,
        is: true,
      },
      { claim: 'a container that has ended is not ready', see: (seen) => stateOf(seen)?.ready, is: false },
      {
        claim: 'Ready of a pod that succeeded is False with PodCompleted',
        see: ({ status }) =>
          status.conditions
            ?.filter(({ type }) => type === 'Ready')
            .map(({ status: is, reason }) => [is, reason]),
        is: [['False', 'PodCompleted']],
      },
      {
        claim: 'both streams are in the log',
        see: ({ logs }) => [...(logs['main'] ?? [])].sort(),
        is: ['err', 'out'],
      },
      {
        claim: 'Pulled, Created and Started are told',
        see: ({ events }) => events.map((event) => event.split(' ')[1]),
        is: ['Pulled', 'Created', 'Started'],
      },
    ],
  },
  {
    name: 'failure',
    spec: {
      containers: [
        { name: 'main', command: sh('exit 3') },
        { name: 'other', command: sh('exit 0') },
      ],
    },
    claims: [
      {
        claim: 'a pod with a container that failed has Failed',
        see: ({ status }) => status.phase,
        is: 'Failed',
      },
      {
        claim: 'the exit code of a container is in its status',
        see: (seen) => [ended(seen)?.exitCode, ended(seen)?.reason],
        is: [3, 'Error'],
      },
      {
        claim: 'each container has an end of its own',
        see: (seen) => [ended(seen, 1)?.exitCode, ended(seen, 1)?.reason],
        is: [0, 'Completed'],
      },
      {
        claim: 'restartPolicy Never restarts nothing',
        see: ({ status }) => status.containerStatuses?.map(({ restartCount }) => restartCount),
        is: [0, 0],
      },
      {
        claim: 'Ready of a pod that failed is False with PodFailed',
        see: ({ status }) =>
          status.conditions
            ?.filter(({ type }) => type === 'Ready')
            .map(({ status: is, reason }) => [is, reason]),
        is: [['False', 'PodFailed']],
      },
    ],
  },
  {
    name: 'no-such-program',
    notSimulated: 'simulated images have every program',
    spec: { containers: [{ name: 'main', command: ['/no/such/program'] }] },
    story: (run) => run.until('the end', () => run.status().phase === 'Failed'),
    claims: [
      {
        claim: 'a program that is not there is StartError with code 128',
        see: (seen) => [ended(seen)?.exitCode, ended(seen)?.reason],
        is: [128, 'StartError'],
      },
      {
        claim: 'the message of StartError names the program',
        see: (seen) => ended(seen)?.message?.includes('/no/such/program'),
        is: true,
      },
    ],
  },
  {
    name: 'command-not-found',
    notSimulated: 'scripts with commands that the simulated shell does not have are not run',
    spec: { containers: [{ name: 'main', command: sh('no-such-command') }] },
    claims: [
      {
        claim: 'a shell that does not find a command exits with 127',
        see: (seen) => ended(seen)?.exitCode,
        is: 127,
      },
    ],
  },
];

const restarts: readonly Behaviour[] = [
  {
    name: 'always',
    spec: { restartPolicy: 'Always', containers: [{ name: 'main', command: sh('echo once; exit 0') }] },
    story: (run) =>
      run.until(
        'a back-off',
        () => run.status().containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff',
      ),
    claims: [
      {
        claim: 'restartPolicy Always restarts what exits with 0',
        see: (seen) => (stateOf(seen)?.restartCount ?? 0) >= 1,
        is: true,
      },
      {
        claim: 'the exit before is in lastState',
        see: (seen) => stateOf(seen)?.lastState?.terminated?.exitCode,
        is: 0,
      },
      {
        claim: 'a container that keeps ending is in CrashLoopBackOff',
        see: (seen) =>
          /^back-off 10s restarting failed container=main pod=always_default\(/.test(
            stateOf(seen)?.state?.waiting?.message ?? '',
          ),
        is: true,
      },
      {
        claim: 'the back-off is told as an event',
        see: ({ events }) =>
          events.some((event) =>
            event.startsWith(
              'Warning BackOff Back-off restarting failed container main in pod always_default(',
            ),
          ),
        is: true,
      },
      { claim: 'a pod between restarts is Running', see: ({ status }) => status.phase, is: 'Running' },
    ],
  },
  {
    name: 'on-failure',
    spec: {
      restartPolicy: 'OnFailure',
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [
        {
          name: 'main',
          command: sh('if [ -e /v/ran ]; then exit 0; fi; touch /v/ran; exit 4'),
          volumeMounts: [{ name: 'v', mountPath: '/v' }],
        },
        { name: 'done', command: sh('exit 0') },
      ],
    },
    claims: [
      {
        claim: 'restartPolicy OnFailure restarts what failed',
        see: (seen) => stateOf(seen)?.restartCount,
        is: 1,
      },
      {
        claim: 'lastState has the code of the failure',
        see: (seen) => stateOf(seen)?.lastState?.terminated?.exitCode,
        is: 4,
      },
      {
        claim: 'restartPolicy OnFailure leaves what succeeded',
        see: (seen) => stateOf(seen, 1)?.restartCount,
        is: 0,
      },
      {
        claim: 'a pod that succeeds after a restart has Succeeded',
        see: ({ status }) => status.phase,
        is: 'Succeeded',
      },
    ],
  },
  {
    name: 'restart-rules',
    spec: {
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [
        {
          name: 'main',
          restartPolicy: 'Never',
          restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
          command: sh('if [ -e /v/ran ]; then exit 3; fi; touch /v/ran; exit 42'),
          volumeMounts: [{ name: 'v', mountPath: '/v' }],
        },
      ],
    },
    claims: [
      {
        claim: 'a rule restarts a container that exits with its code',
        see: (seen) => stateOf(seen)?.lastState?.terminated?.exitCode,
        is: 42,
      },
      {
        claim: 'other codes follow the policy of the container',
        see: (seen) => [ended(seen)?.exitCode, stateOf(seen)?.restartCount],
        is: [3, 1],
      },
    ],
  },
  {
    name: 'deadline',
    spec: { activeDeadlineSeconds: 1, containers: [{ name: 'main', command: sh('exec sleep 600') }] },
    claims: [
      {
        claim: 'a pod that is active for too long has Failed',
        see: ({ status }) => [status.phase, status.reason],
        is: ['Failed', 'DeadlineExceeded'],
      },
      {
        claim: 'DeadlineExceeded has a message',
        see: ({ status }) => status.message,
        is: 'Pod was active on the node longer than the specified deadline',
      },
    ],
  },
  {
    name: 'missing-image',
    spec: { containers: [{ name: 'main', image: 'localhost:1/none:missing', command: sh('true') }] },
    story: (run) =>
      run.until(
        'a back-off',
        () => run.status().containerStatuses?.[0]?.state?.waiting?.reason === 'ImagePullBackOff',
      ),
    claims: [
      {
        claim: 'a missing image is ErrImagePull, then ImagePullBackOff',
        see: ({ history }) =>
          [...new Set(history.map((status) => status.containerStatuses?.[0]?.state?.waiting?.reason))].slice(
            -2,
          ),
        is: ['ErrImagePull', 'ImagePullBackOff'],
      },
      {
        claim: 'the pull that failed is told',
        see: ({ events }) =>
          events.some((event) =>
            event.startsWith('Warning Failed Failed to pull image "localhost:1/none:missing":'),
          ),
        is: true,
      },
      {
        claim: 'the back-off of a pull is told',
        see: ({ events }) =>
          events.includes('Normal BackOff Back-off pulling image "localhost:1/none:missing"'),
        is: true,
      },
      { claim: 'a pod without its image is Pending', see: ({ status }) => status.phase, is: 'Pending' },
    ],
  },
  {
    name: 'never-pulled',
    spec: {
      containers: [
        { name: 'main', image: 'localhost:1/none:missing', imagePullPolicy: 'Never', command: sh('true') },
      ],
    },
    story: (run) =>
      run.until(
        'a reason',
        () => run.status().containerStatuses?.[0]?.state?.waiting?.reason === 'ErrImageNeverPull',
      ),
    claims: [
      {
        claim: 'an image that must not be pulled is ErrImageNeverPull',
        see: (seen) => stateOf(seen)?.state?.waiting?.message,
        is: 'Container image "localhost:1/none:missing" is not present with pull policy of Never',
      },
    ],
  },
  {
    name: 'invalid-image',
    spec: { containers: [{ name: 'main', image: 'Not/An/Image', command: sh('true') }] },
    story: (run) =>
      run.until(
        'a reason',
        () => run.status().containerStatuses?.[0]?.state?.waiting?.reason === 'InvalidImageName',
      ),
    claims: [
      {
        claim: 'a name that is none of an image is InvalidImageName',
        see: (seen) => stateOf(seen)?.state?.waiting?.reason,
        is: 'InvalidImageName',
      },
    ],
  },
];

const messages: readonly Behaviour[] = [
  {
    name: 'termination-messages',
    spec: {
      containers: [
        { name: 'file', command: sh('echo why > /dev/termination-log; exit 1') },
        {
          name: 'path',
          command: sh('echo elsewhere > /tmp/reason; exit 0'),
          terminationMessagePath: '/tmp/reason',
        },
        {
          name: 'fallback',
          command: sh('echo last words; exit 1'),
          terminationMessagePolicy: 'FallbackToLogsOnError',
        },
        { name: 'fine', command: sh('echo fine; exit 0'), terminationMessagePolicy: 'FallbackToLogsOnError' },
        {
          name: 'both',
          command: sh('echo log; echo file > /dev/termination-log; exit 1'),
          terminationMessagePolicy: 'FallbackToLogsOnError',
        },
        {
          name: 'long',
          command: sh(
            'x=0123456789; x=$x$x$x$x$x$x$x$x; x=$x$x$x$x$x$x$x$x; echo $x$x$x$x$x$x$x$x > /dev/termination-log',
          ),
        },
        { name: 'none', command: sh('echo log; exit 1') },
      ],
    },
    claims: [
      {
        claim: 'the termination message is read from /dev/termination-log',
        see: (seen) => ended(seen, 0)?.message,
        is: 'why\n',
      },
      {
        claim: 'terminationMessagePath names another file',
        see: (seen) => ended(seen, 1)?.message,
        is: 'elsewhere\n',
      },
      {
        claim: 'FallbackToLogsOnError takes the log of a container that failed',
        see: (seen) => ended(seen, 2)?.message,
        is: 'last words\n',
      },
      {
        claim: 'FallbackToLogsOnError takes no log of a container that succeeded',
        see: (seen) => ended(seen, 3)?.message,
        is: undefined,
      },
      { claim: 'the file wins over the log', see: (seen) => ended(seen, 4)?.message, is: 'file\n' },
      {
        claim: 'a termination message has at most 4096 bytes',
        see: (seen) => ended(seen, 5)?.message?.length,
        is: 4096,
      },
      { claim: 'without a file there is no message', see: (seen) => ended(seen, 6)?.message, is: undefined },
    ],
  },
];

const terminations: readonly Behaviour[] = [
  {
    name: 'sigterm',
    spec: {
      containers: [
        {
          name: 'main',
          command: sh('trap "echo bye; exit 5" TERM; echo up; while true; do sleep 0.1; done'),
        },
      ],
    },
    story: deleted(20),
    claims: [
      {
        claim: 'a container that is stopped gets SIGTERM and may end on its own',
        see: (seen) => [ended(seen)?.exitCode, ended(seen)?.reason],
        is: [5, 'Error'],
      },
      { claim: 'what it says at its end is in its log', see: ({ logs }) => logs['main'], is: ['up', 'bye'] },
      {
        claim: 'Killing is told',
        see: ({ events }) => events.includes('Normal Killing Stopping container main'),
        is: true,
      },
    ],
  },
  {
    name: 'sigkill',
    spec: {
      containers: [{ name: 'main', command: sh('trap "" TERM; echo up; while true; do sleep 0.1; done') }],
    },
    story: deleted(1),
    claims: [
      {
        claim: 'a container that ignores SIGTERM is killed when its time is up',
        see: (seen) => [ended(seen)?.exitCode, ended(seen)?.reason],
        is: [137, 'Error'],
      },
      {
        claim: 'a deleted pod whose container was killed has Failed',
        see: ({ status }) => status.phase,
        is: 'Failed',
      },
    ],
  },
  {
    name: 'pre-stop',
    spec: {
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [
        {
          name: 'main',
          command: sh('trap "cat /v/hook; exit 0" TERM; echo up; while true; do sleep 0.1; done'),
          volumeMounts: [{ name: 'v', mountPath: '/v' }],
          lifecycle: { preStop: { exec: { command: sh('echo the hook ran > /v/hook') } } },
        },
      ],
    },
    story: deleted(20),
    claims: [
      {
        claim: 'preStop runs to its end before SIGTERM',
        see: ({ logs }) => logs['main'],
        is: ['up', 'the hook ran'],
      },
    ],
  },
  {
    name: 'pre-stop-failing',
    spec: {
      containers: [
        {
          name: 'main',
          command: sh('trap "exit 0" TERM; echo up; while true; do sleep 0.1; done'),
          lifecycle: { preStop: { exec: { command: sh('exit 1') } } },
        },
      ],
    },
    story: deleted(20),
    claims: [
      {
        claim: 'a preStop that fails is told, and the container is stopped',
        see: ({ events }) => events.includes('Warning FailedPreStopHook PreStopHook failed'),
        is: true,
      },
      { claim: 'the container ends as it would', see: (seen) => ended(seen)?.exitCode, is: 0 },
    ],
  },
  {
    name: 'post-start',
    spec: {
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [
        {
          name: 'main',
          command: sh('until [ -e /v/hook ]; do sleep 0.1; done; cat /v/hook'),
          volumeMounts: [{ name: 'v', mountPath: '/v' }],
          lifecycle: { postStart: { exec: { command: sh('echo started > /v/hook') } } },
        },
      ],
    },
    claims: [
      { claim: 'postStart runs beside the container', see: ({ logs }) => logs['main'], is: ['started'] },
    ],
  },
  {
    name: 'post-start-failing',
    spec: {
      containers: [
        {
          name: 'main',
          command: sh('trap "exit 0" TERM; while true; do sleep 0.1; done'),
          lifecycle: { postStart: { exec: { command: sh('exit 2') } } },
        },
      ],
    },
    claims: [
      {
        claim: 'a postStart that fails is told',
        see: ({ events }) => events.includes('Warning FailedPostStartHook PostStartHook failed'),
        is: true,
      },
      {
        claim: 'a container whose postStart fails is killed',
        see: ({ events }) => events.includes('Normal Killing FailedPostStartHook'),
        is: true,
      },
    ],
  },
];

export const lifecycleBehaviours: readonly Behaviour[] = [
  ...exits,
  ...restarts,
  ...messages,
  ...terminations,
];
