import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../core/base/log.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { CriRuntime } from '../../core/kubelet/runtimes/cri/cri-runtime.ts';
import {
  BEHAVIOURS,
  runBehaviours,
  type Behaviour,
  type BehaviourNode,
} from '../../core/kubelet/testing/behaviours/index.ts';
import { noContainers, startContainerd, type TestContainerd } from '../support/containerd.ts';

const PODS_MAX = 16;
const run = promisify(execFile);

/** Skipped, with the reason in its name, where there is no root or no container runtime. */
describe.skipIf(noContainers !== undefined)(
  `pods on containerd${noContainers ? ` (${noContainers})` : ''}`,
  () => {
    let containerd: TestContainerd;
    let runtime: CriRuntime;
    let outcomes: ReturnType<typeof runBehaviours>;

    const connect = (root: string): Promise<CriRuntime> =>
      CriRuntime.connect({
        endpoint: containerd.endpoint,
        nodeName: root,
        clock: systemClock,
        log: silentLog,
        root: join(containerd.folder, root),
        podLogs: join(containerd.folder, `${root}-logs`),
        cgroupRoot: containerd.cgroupRoot,
        memoryCapacityBytes: 2 ** 33,
      });
    const nodeOf = (of: CriRuntime): BehaviourNode => ({
      runtime: of,
      clock: systemClock,
      hostIP: `${containerd.podPrefix}1`,
      image: containerd.image,
    });
    const holds = async (of: CriRuntime, behaviour: Behaviour): Promise<void> => {
      const all = await runBehaviours(nodeOf(of), [behaviour], { podsMax: 1 }).get(behaviour.name)!;
      expect(all.map(({ claim, is }) => ({ claim, is }))).toEqual(
        all.map(({ claim, expected }) => ({ claim, is: expected })),
      );
    };

    beforeAll(async () => {
      containerd = await startContainerd({ hasNetwork: true });
      runtime = await connect('kubelet');
      outcomes = runBehaviours(nodeOf(runtime), BEHAVIOURS, { podsMax: PODS_MAX });
    });
    afterAll(async () => {
      await Promise.allSettled(outcomes?.values() ?? []);
      runtime?.dispose();
      await containerd?.close();
    });

    test.each(BEHAVIOURS)('$name', async ({ name }) => {
      const all = await outcomes.get(name)!;
      expect(all.map(({ claim, is }) => ({ claim, is }))).toEqual(
        all.map(({ claim, expected }) => ({ claim, is: expected })),
      );
    });

    test('a registry that hangs keeps one pod waiting, and the pod can be deleted', async () => {
      const sockets = new Set<Socket>();
      const silent = createServer((socket) => sockets.add(socket));
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
      const { port } = silent.address() as AddressInfo;
      const image = `localhost:${port}/none:1`;
      try {
        await holds(runtime, {
          name: 'hanging-registry',
          spec: { containers: [{ name: 'main', image, command: ['true'] }] },
          story: async (run) => {
            await run.until('a connection to the registry', () => sockets.size > 0);
            await holds(runtime, {
              name: 'beside-it',
              spec: {},
              claims: [{ claim: 'others run', see: ({ status }) => status.phase, is: 'Succeeded' }],
            });
          },
          claims: [
            {
              claim: 'the pull is told',
              see: ({ events }) => events,
              is: [`Normal Pulling Pulling image "${image}"`],
            },
            {
              claim: 'its container waits',
              see: ({ status }) => status.containerStatuses?.[0]?.state?.waiting?.reason,
              is: 'ContainerCreating',
            },
          ],
        });
      } finally {
        for (const socket of sockets) socket.destroy();
        silent.close();
      }
    });

    test('a full disk is FailedMount, and pods start once there is space', async () => {
      const root = join(containerd.folder, 'full');
      await mkdir(root);
      await run('mount', ['-t', 'tmpfs', '-o', 'size=128k', 'full', root]);
      const full = await connect('full');
      try {
        await writeFile(join(root, 'filler'), Buffer.alloc(2 ** 20)).catch(() => undefined);
        await holds(full, {
          name: 'full-disk',
          configMaps: [{ metadata: { name: 'c' }, data: { key: 'value'.repeat(1_000) } }],
          spec: {
            volumes: [{ name: 'v', configMap: { name: 'c' } }],
            containers: [{ name: 'main', command: ['true'], volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
          },
          story: async (under) => {
            await under.until('FailedMount', () =>
              under.events.some((event) => event.includes('FailedMount')),
            );
            await holds(runtime, {
              name: 'beside-the-full-disk',
              spec: {},
              claims: [{ claim: 'others run', see: ({ status }) => status.phase, is: 'Succeeded' }],
            });
            await rm(join(root, 'filler'));
            await under.until('the end of the pod', () => under.status().phase === 'Succeeded');
          },
          claims: [
            {
              claim: 'the reason is told',
              see: ({ events }) =>
                /^Warning FailedMount MountVolume.SetUp failed for volume "v" : .*no space left on device/.test(
                  events.find((event) => event.includes('FailedMount')) ?? '',
                ),
              is: true,
            },
          ],
        });
      } finally {
        full.dispose();
        await run('umount', ['-l', root]);
      }
    });
  },
);
