import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../core/base/log.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import type { V1Container, V1Pod } from '../../core/api/schema/index.ts';
import {
  bindSubPath,
  mountPointsBelow,
  removePodFolder,
} from '../../core/kubelet/runtimes/cri/bind-mounts.ts';
import { CriRuntime } from '../../core/kubelet/runtimes/cri/cri-runtime.ts';
import { openSubPath, resolveSubPath } from '../../core/kubelet/runtimes/cri/sub-path.ts';
import {
  CLAIMS,
  exitOf,
  runClaim,
  sandboxRequest,
  type RuntimeUnderTest,
} from '../../core/kubelet/testing/runtime-contract.ts';
import { container, noObjects, pod } from '../../core/kubelet/testing/world.ts';
import { podVolumes } from '../../core/kubelet/volumes/pod-volumes.ts';
import type { ContainerRequest, RunningContainer, Sandbox } from '../../core/kubelet/runtimes/runtime.ts';
import { noContainers, startContainerd, type TestContainerd } from '../support/containerd.ts';
import { until } from '../support/until.ts';

const signal = new AbortController().signal;
const run = promisify(execFile);

const mountsBelow = async (folder: string): Promise<readonly string[]> =>
  mountPointsBelow(await readFile('/proc/self/mountinfo', 'utf8'), folder)
    .map((path) => path.slice(folder.length + 1))
    .sort();

/** Skipped, with the reason in its name, where there is no root or no container runtime. */
describe.skipIf(noContainers !== undefined)(
  `on containerd${noContainers ? ` (${noContainers})` : ''}`,
  () => {
    let containerd: TestContainerd;
    let runtime: CriRuntime;
    let subject: RuntimeUnderTest;
    const runtimes: CriRuntime[] = [];

    const connect = async (): Promise<CriRuntime> => {
      const made = await CriRuntime.connect({
        endpoint: containerd.endpoint,
        nodeName: 'n1',
        clock: systemClock,
        log: silentLog,
        root: join(containerd.folder, 'kubelet'),
        podLogs: join(containerd.folder, 'pod-logs'),
        cgroupRoot: containerd.cgroupRoot,
        memoryCapacityBytes: 2 ** 33,
        logLimits: { bytesMax: 1_000, filesMax: 5 },
      });
      runtimes.push(made);
      return made;
    };

    const shell = (name: string, script: string, rest: Partial<V1Container> = {}): V1Container =>
      container(name, { image: containerd.image, command: ['/bin/sh', '-c', script], ...rest });

    beforeAll(async () => {
      containerd = await startContainerd({ hasNetwork: true });
      runtime = await connect();
      subject = {
        runtime,
        hostIP: `${containerd.podPrefix}1`,
        speaks: (code) => shell('speaks', `echo hello; echo again; exit ${code}`),
        waits: shell('waits', 'exec sleep 600'),
        hasExec: true,
        settled: (promise) => promise,
        restart: connect,
      };
    });
    afterAll(async () => {
      for (const { uid } of await runtime.heldPods().catch(() => []))
        await runtime.removePod(uid).catch(() => undefined);
      for (const made of runtimes) made.dispose();
      await containerd?.close();
    });

    const request = async (of: V1Pod, spec: V1Container, environment = new Map([['PATH', '/bin']])) =>
      ({
        pod: of,
        container: spec,
        kind: 'main',
        image: (await runtime.findImage(spec.image ?? ''))!,
        environment,
        attempt: 0,
        signal,
      }) satisfies ContainerRequest;

    const linesOf = async (running: RunningContainer): Promise<string[]> => {
      const texts: string[] = [];
      for await (const lines of running.log.read({ follow: false, signal }))
        texts.push(...lines.map(({ text }) => text));
      return texts;
    };

    /** Runs a script to its end in a pod of its own. */
    const inPod = async (
      of: V1Pod,
      volumes: ReturnType<typeof podVolumes> | undefined,
      work: (sandbox: Sandbox) => Promise<void>,
    ): Promise<void> => {
      const base = sandboxRequest(subject, of);
      const sandbox = await runtime.createSandbox({ ...base, ...(volumes && { volumes }) });
      try {
        await work(sandbox);
      } finally {
        await sandbox.stop();
        await runtime.removePod(of.metadata?.uid ?? '');
      }
    };

    test('the version and the readiness of the runtime are known', async () => {
      expect(runtime.name).toBe('containerd');
      expect(runtime.version).toMatch(/^\d+\.\d+/);
      expect((await runtime.images()).map(({ image }) => image)).toContain(containerd.image);
    });

    test.concurrent.each(
      CLAIMS.filter(({ claim }) => !claim.includes('does not outlive') && !claim.includes('without exec')),
    )('$claim', async (claim) => {
      expect(await runClaim(subject, claim, randomUUID())).toEqual(claim.expected);
    });

    test.concurrent(
      'volumes, environment, hosts, names, users and the termination message are as the pod says',
      async () => {
        const spec = shell(
          'app',
          [
            'cat /config/a; stat -c %a /config/..data/a; readlink /config/a; cat /sub; echo $GREETING',
            'stat -c %a /scratch; echo x > /scratch/file && echo written; (echo y > /config/new) 2>/dev/null || echo read-only',
            'hostname; cat /etc/resolv.conf; id -u; id -G; echo why > /dev/termination-log; exit 7',
          ].join('\n'),
          {
            volumeMounts: [
              { name: 'config', mountPath: '/config' },
              { name: 'config', mountPath: '/sub', subPath: 'b' },
              { name: 'scratch', mountPath: '/scratch' },
            ],
            securityContext: { runAsUser: 1000, runAsGroup: 1000 },
          },
        );
        const of = pod(
          {
            containers: [spec],
            volumes: [
              { name: 'config', configMap: { name: 'c', defaultMode: 0o640 } },
              { name: 'scratch', emptyDir: {} },
            ],
            securityContext: { fsGroup: 2000 },
          },
          { uid: randomUUID() },
        );
        const volumes = podVolumes(
          () => ({ pod: of, hostIP: `${containerd.podPrefix}1`, podIPs: [], allocatable: {} }),
          {
            ...noObjects,
            configMap: () => Promise.resolve({ data: { a: 'one\n', b: 'two\n' } }),
          },
        );
        await inPod(of, volumes, async (sandbox) => {
          const environment = new Map([
            ['PATH', '/bin'],
            ['GREETING', 'hello'],
          ]);
          const running = await sandbox.startContainer(await request(of, spec, environment));
          const exit = await exitOf(running);
          expect(await linesOf(running)).toEqual([
            'one',
            '640',
            '..data/a',
            'two',
            'hello',
            '2777',
            'written',
            'read-only',
            'web',
            'nameserver 10.0.0.10',
            '1000',
            '1000 2000',
          ]);
          expect({ exitCode: exit.exitCode, reason: exit.reason, message: exit.message }).toEqual({
            exitCode: 7,
            reason: 'Error',
            message: 'why\n',
          });
        });
        expect(existsSync(join(containerd.folder, 'kubelet', 'pods', of.metadata!.uid!))).toBe(false);
      },
    );

    test.concurrent(
      'memory beyond the limit is OOMKilled, and a path that leaves its volume is rejected',
      async () => {
        const greedy = shell('greedy', 'x=a; while true; do x=$x$x; done', {
          resources: { limits: { memory: '16Mi' } },
        });
        const of = pod(
          { containers: [greedy], volumes: [{ name: 'v', emptyDir: {} }] },
          { uid: randomUUID() },
        );
        await inPod(of, undefined, async (sandbox) => {
          const { exitCode, reason } = await exitOf(await sandbox.startContainer(await request(of, greedy)));
          expect({ exitCode, reason }).toEqual({ exitCode: 137, reason: 'OOMKilled' });
          const mounts = [{ name: 'v', mountPath: '/v' }];
          const linker = shell('linker', 'busybox ln -s /etc /v/out', { volumeMounts: mounts });
          await exitOf(await sandbox.startContainer(await request(of, linker)));
          const escaping = shell('escaping', 'true', {
            volumeMounts: [{ name: 'v', mountPath: '/x', subPath: 'out' }],
          });
          await expect(sandbox.startContainer(await request(of, escaping))).rejects.toThrow(
            'failed to prepare subPath for volumeMount "v" of container "escaping"',
          );
        });
      },
    );

    test.concurrent(
      'subPaths are directories and files of their volume, stay mounted for the next kubelet, and go with the pod',
      async () => {
        const v = (mountPath: string, subPath?: string) => ({
          name: 'v',
          mountPath,
          ...(subPath !== undefined && { subPath }),
        });
        const writing = shell(
          'writing',
          'echo text > /v/file; echo name > /deep/name; stat -c %a /v/new /v/new/deep',
          { volumeMounts: [v('/v'), v('/deep', 'new/deep')] },
        );
        const reading = shell('reading', 'cat /file /deep/name; exec sleep 600', {
          volumeMounts: [v('/file', 'file'), v('/deep', 'new/deep')],
        });
        const uid = randomUUID();
        const of = pod(
          {
            containers: [writing, reading],
            volumes: [{ name: 'v', emptyDir: {} }],
            securityContext: { fsGroup: 2000 },
          },
          { uid },
        );
        const folder = join(containerd.folder, 'kubelet', 'pods', uid);
        const mounted = ['reading/0', 'reading/1', 'writing/1'].map((place) => `volume-subpaths/v/${place}`);
        await inPod(of, undefined, async (sandbox) => {
          const written = await sandbox.startContainer(await request(of, writing));
          await exitOf(written);
          expect(await linesOf(written)).toEqual(['2777', '2777']);
          const read = await sandbox.startContainer(await request(of, reading));
          await until('lines', async () => (await linesOf(read)).join(' ') === 'text name');
          const next = await connect();
          const adopted = await next.adoptSandbox(sandboxRequest(subject, of));
          expect(await mountsBelow(folder)).toEqual(mounted);
          const again = adopted!.containers.find(({ name }) => name === 'reading')!.container;
          const command = ['cat', '/file', '/deep/name'];
          expect(await again.run({ command, timeoutMs: 10_000, outputBytesMax: 100 })).toEqual({
            exitCode: 0,
            output: 'text\nname\n',
          });
          await next.removePod(uid);
          expect({ mounted: await mountsBelow(folder), isKept: existsSync(folder) }).toEqual({
            mounted: [],
            isKept: false,
          });
        });
      },
    );

    test.concurrent(
      'a path that replaces an opened subPath is not mounted, and nothing is removed through a mount',
      async () => {
        const base = join(containerd.folder, 'swapped');
        const [volume, outside, podFolder] = ['volume', 'outside', 'pod'].map((name) => join(base, name)) as [
          string,
          string,
          string,
        ];
        for (const folder of [join(volume, 'a'), join(outside, 'b')])
          await mkdir(folder, { recursive: true });
        await writeFile(join(outside, 'b', 'secret'), 'of the host');
        await writeFile(join(volume, 'file'), 'text');
        const bind = async (subPath: string, between: () => Promise<void>): Promise<string> => {
          const opened = await openSubPath(await resolveSubPath(volume, subPath));
          try {
            await between();
            return await bindSubPath(opened, { podFolder, volume: 'v', container: 'app', index: 0 });
          } finally {
            await opened.close();
          }
        };
        const place = await bind('a/b', async () => {
          await writeFile(join(volume, 'a', 'b', 'mine'), '');
          await rename(join(volume, 'a'), join(volume, 'kept'));
          await symlink(outside, join(volume, 'a'));
        });
        expect(await readdir(place)).toEqual(['mine']);
        expect(await bind('kept/b', () => Promise.resolve())).toBe(place);
        expect(await mountsBelow(podFolder)).toEqual(['volume-subpaths/v/app/0']);
        // The next start has a file there.
        expect(await readFile(await bind('file', () => Promise.resolve()), 'utf8')).toBe('text');
        expect(await mountsBelow(podFolder)).toEqual(['volume-subpaths/v/app/0']);

        const left = join(podFolder, 'volumes', 'left');
        await mkdir(left, { recursive: true });
        await run('mount', ['--bind', outside, left]);
        await expect(removePodFolder(podFolder)).rejects.toThrow(`${left} is still mounted`);
        expect(await mountsBelow(podFolder)).toEqual(['volumes/left']);
        await run('umount', [left]);
        await removePodFolder(podFolder);
        expect([existsSync(podFolder), existsSync(join(outside, 'b', 'secret'))]).toEqual([false, true]);
        expect(await readdir(join(volume, 'kept', 'b'))).toEqual(['mine']);
      },
    );

    test.concurrent('a long log is rotated, and the container continues in a new file', async () => {
      const talking = shell('talking', 'while true; do echo 0123456789; sleep 0.01; done');
      const of = pod({ containers: [talking] }, { uid: randomUUID() });
      await inPod(of, undefined, async (sandbox) => {
        const running = await sandbox.startContainer(await request(of, talking));
        const folder = join(containerd.folder, 'pod-logs', `default_web_${of.metadata!.uid}`, 'talking');
        const files = async (): Promise<string[]> => (await readdir(folder)).sort();
        await until('a rotated log', async () => {
          await runtime.rotateLogs();
          return (await files()).length === 2;
        });
        await until('lines in the new file', async () => (await linesOf(running)).length > 0);
        expect(await files()).toEqual(['0.log', expect.stringMatching(/^0\.log\.\d{8}-\d{6}$/)]);
      });
    });

    test.concurrent('images that no container uses are collected, while the disk is too full', async () => {
      // The disk of this machine decides: what is wanted is freed, or nothing is wanted.
      const { wantedBytes, freedBytes } = await runtime.collectImages();
      expect([0, freedBytes]).toContain(wantedBytes === 0 ? 0 : freedBytes);
      expect((await runtime.images()).map(({ image }) => image)).toContain(containerd.image);
    });

    test.concurrent(
      'a port of the pod is reached through the runtime, and a sandbox that ends is noticed',
      async () => {
        const serving = shell('serving', 'while true; do echo served | nc -l -p 8080; done');
        const of = pod({ containers: [serving] }, { uid: randomUUID() });
        await inPod(of, undefined, async (sandbox) => {
          expect(sandbox.podIPs[0]!.startsWith(containerd.podPrefix)).toBe(true);
          const running = await sandbox.startContainer(await request(of, serving));
          const ended = new Promise<void>((resolve) => sandbox.onEnd(resolve));
          const dialled = async (): Promise<string> => {
            const stream = await sandbox.dial(8080);
            const chunks: Buffer[] = [];
            for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
            return Buffer.concat(chunks).toString();
          };
          let text = '';
          while (text === '') text = await dialled().catch(() => '');
          expect(text).toBe('served\n');
          const exited = exitOf(running);
          const other = await connect();
          await other.removePod(of.metadata!.uid!);
          await Promise.all([ended, exited]);
        });
      },
    );
  },
);
