import { PassThrough } from 'node:stream';
import type { V1Container, V1Pod } from '../../api/schema/index.ts';
import type {
  ContainerExit,
  ContainerRequest,
  RunningContainer,
  Runtime,
  Sandbox,
  SandboxRequest,
} from '../runtimes/runtime.ts';
import { noObjects, pod } from './world.ts';
import { podVolumes } from '../volumes/pod-volumes.ts';

/** A runtime with what its containers need to show the same behaviour as those of others. */
export interface RuntimeUnderTest {
  readonly runtime: Runtime;
  readonly hostIP: string;
  /** Writes `hello` and `again`, and exits with this code. */
  readonly speaks: (exitCode: number) => V1Container;
  /** Runs until it is stopped. */
  readonly waits: V1Container;
  /** Containers take commands. */
  readonly hasExec: boolean;
  /** Lets time pass for runtimes on a manual clock until the promise settles. */
  settled<T>(promise: Promise<T>): Promise<T>;
  /** The runtime as the next kubelet finds it. */
  restart?(): Promise<Runtime>;
}

/** What a claim needs of one pod: a sandbox, and containers in it. */
export interface ContractPod {
  readonly subject: RuntimeUnderTest;
  readonly pod: V1Pod;
  readonly sandbox: Sandbox;
  start(spec: V1Container, attempt?: number): Promise<RunningContainer>;
}

export interface Claim {
  readonly claim: string;
  /** What is seen, to be compared as a whole with `expected`. */
  see(subject: ContractPod): Promise<unknown>;
  readonly expected: unknown;
  appliesTo?(subject: RuntimeUnderTest): boolean;
}

export const exitOf = (running: RunningContainer): Promise<ContainerExit> =>
  new Promise((resolve) => running.onExit(resolve));

const linesOf = async (running: RunningContainer, tailLines?: number, follow = false): Promise<string[]> => {
  const texts: string[] = [];
  const reading = { tailLines, follow, signal: new AbortController().signal };
  for await (const lines of running.log.read(reading)) texts.push(...lines.map(({ text }) => text));
  return texts;
};

const EXITED = 3;
const GRACE_MS = 100;
const signal = new AbortController().signal;

export const sandboxRequest = (subject: RuntimeUnderTest, of: V1Pod, attempt = 0): SandboxRequest => ({
  pod: of,
  nodeName: 'n1',
  hostIP: subject.hostIP,
  dns: { servers: ['10.0.0.10'], searches: [], options: [] },
  clusterDomain: 'cluster.local',
  attempt,
  volumes: podVolumes(() => ({ pod: of, hostIP: subject.hostIP, podIPs: [], allocatable: {} }), noObjects),
});

/** Runs one claim in a pod of its own, and removes the pod whatever came of it. */
export const runClaim = async (subject: RuntimeUnderTest, { see }: Claim, uid: string): Promise<unknown> => {
  const { runtime, settled } = subject;
  const subjectPod = pod(
    { containers: [subject.waits], restartPolicy: 'Never' },
    { uid, name: `pod-${uid}` },
  );
  const sandbox = await settled(runtime.createSandbox(sandboxRequest(subject, subjectPod)));
  const started: RunningContainer[] = [];
  try {
    return await see({
      subject,
      pod: subjectPod,
      sandbox,
      async start(spec, attempt = 0) {
        const image = spec.image ?? '';
        const pulled =
          (await runtime.findImage(image)) ??
          (await settled(runtime.pullImage({ pod: subjectPod, container: spec, image, signal })));
        const request: ContainerRequest = {
          pod: subjectPod,
          container: spec,
          kind: 'main',
          image: pulled,
          environment: new Map([['PATH', '/bin']]),
          attempt,
          signal,
        };
        const running = await settled(sandbox.startContainer(request));
        started.push(running);
        return running;
      },
    });
  } finally {
    const ends = started.map(exitOf);
    for (const running of started) running.stop(0);
    await settled(Promise.all(ends));
    await settled(sandbox.stop());
    await settled(runtime.removePod(uid));
  }
};

export const CLAIMS: readonly Claim[] = [
  {
    claim: 'an image that was pulled is found again under the same identity',
    async see({ subject: { runtime, waits, settled }, pod: of }) {
      const image = waits.image ?? '';
      const known =
        (await runtime.findImage(image)) ??
        (await settled(runtime.pullImage({ pod: of, container: waits, image, signal })));
      return (await runtime.findImage(image))?.imageID === known.imageID;
    },
    expected: true,
  },
  {
    claim: 'a sandbox has an address',
    see: ({ sandbox }) => Promise.resolve(sandbox.podIPs.length > 0 && sandbox.podIPs[0] !== ''),
    expected: true,
  },
  {
    claim: 'a container that ends tells its exit code, once to each listener, also to late ones',
    async see({ subject, start }) {
      const running = await start(subject.speaks(EXITED));
      const exit = await subject.settled(exitOf(running));
      const late = await exitOf(running);
      return [exit.exitCode, exit.reason, late.exitCode];
    },
    expected: [EXITED, 'Error', EXITED],
  },
  {
    claim: 'exit code 0 is Completed',
    async see({ subject, start }) {
      const { exitCode, reason } = await subject.settled(exitOf(await start(subject.speaks(0))));
      return { exitCode, reason };
    },
    expected: { exitCode: 0, reason: 'Completed' },
  },
  {
    claim: 'the log of a container can be read after its exit, in whole, from its tail and by a follower',
    async see({ subject, start }) {
      const running = await start(subject.speaks(0));
      await subject.settled(exitOf(running));
      running.log.close();
      return [await linesOf(running), await linesOf(running, 1), await linesOf(running, undefined, true)];
    },
    expected: [['hello', 'again'], ['again'], ['hello', 'again']],
  },
  {
    claim: 'a container that is stopped exits, and a second stop changes nothing',
    async see({ subject, start }) {
      const running = await start(subject.waits);
      const exit = exitOf(running);
      running.stop(GRACE_MS);
      running.stop(GRACE_MS);
      await subject.settled(exit);
      running.stop(0);
      return running.id.startsWith(`${subject.runtime.name}://`);
    },
    expected: true,
  },
  {
    claim: 'usage comes for all running containers in one answer',
    async see({ subject, start }) {
      const running = await start(subject.waits);
      const usage = await subject.settled(subject.runtime.usage([running]));
      return [...usage].map(([of, { memoryBytes }]) => [of === running, memoryBytes >= 0]);
    },
    expected: [[true, true]],
  },
  {
    claim: 'a command runs to its end, and one that takes too long is killed',
    appliesTo: ({ hasExec }) => hasExec,
    async see({ subject, start }) {
      const running = await start(subject.waits);
      const run = (text: string, timeoutMs: number) =>
        subject.settled(running.run({ command: ['sh', '-c', text], timeoutMs, outputBytesMax: 5 }));
      return [await run('echo hello world; exit 4', 60_000), (await run('sleep 600', 300)).exitCode];
    },
    expected: [{ exitCode: 4, output: 'hello' }, undefined],
  },
  {
    claim: 'an exec session has streams and an exit code',
    appliesTo: ({ hasExec }) => hasExec,
    async see({ subject, start }) {
      const running = await start(subject.waits);
      const stdin = new PassThrough();
      const stdout = new PassThrough();
      const chunks: Buffer[] = [];
      stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
      const session = await subject.settled(
        running.exec({ command: ['sh', '-c', 'cat; exit 5'], tty: false, stdin, stdout }),
      );
      stdin.end('typed\n');
      const code = await subject.settled(session.exitCode);
      return [code, Buffer.concat(chunks).toString()];
    },
    expected: [5, 'typed\n'],
  },
  {
    claim: 'a container without exec says so',
    appliesTo: ({ hasExec }) => !hasExec,
    async see({ subject, start }) {
      const running = await start(subject.waits);
      return running
        .run({ command: ['sh'], timeoutMs: 1, outputBytesMax: 1 })
        .catch((error: unknown) => (error as { readonly reason: string }).reason);
    },
    expected: 'ExecFailed',
  },
  {
    claim: 'what does not outlive the kubelet is not held for the next one',
    appliesTo: ({ runtime }) => !runtime.isDurable,
    async see({ subject, pod: of, start }) {
      await start(subject.waits);
      const { runtime } = subject;
      return [await runtime.heldPods(), await runtime.adoptSandbox(sandboxRequest(subject, of))];
    },
    expected: [[], undefined],
  },
  {
    claim: 'the next kubelet adopts the sandbox with its running and its exited containers',
    appliesTo: ({ runtime }) => runtime.isDurable,
    async see({ subject, pod: of, start }) {
      const ended = await start({ ...subject.speaks(EXITED), name: 'ended' });
      await subject.settled(exitOf(ended));
      const running = await start({ ...subject.waits, name: 'running' }, 2);
      const next = await subject.restart!();
      const held = (await next.heldPods()).map(({ uid }) => uid);
      const adopted = await subject.settled(next.adoptSandbox(sandboxRequest(subject, of)));
      return {
        isHeld: held.includes(of.metadata?.uid ?? ''),
        containers: adopted?.containers
          .map(({ name, attempt, exit, container: found }) => {
            const isSame = found.id === (name === 'ended' ? ended : running).id;
            return [name, attempt, exit?.exitCode, isSame];
          })
          .sort(),
      };
    },
    expected: {
      isHeld: true,
      containers: [
        ['ended', 0, EXITED, true],
        ['running', 2, undefined, true],
      ],
    },
  },
];
