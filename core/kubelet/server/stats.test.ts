import { expect, test } from 'vitest';
import type { KubeletNode } from '../node/kubelet-node.ts';
import { resourceMetrics } from './stats.ts';

interface FakeContainer {
  readonly name: string;
  readonly cpuSeconds: number;
}

const runtime = {
  usage: (containers: readonly { readonly cpuSeconds: number }[]) =>
    Promise.resolve(
      new Map(
        containers.map((container) => [
          container,
          { cpuNanoCores: 0, cpuCoreNanoSeconds: container.cpuSeconds * 1e9, memoryBytes: 1024 },
        ]),
      ),
    ),
};

/** As much of a node as its figures are made of. */
const nodeOf = (running: () => readonly FakeContainer[]): KubeletNode =>
  ({
    entries: () => [
      {
        pod: { metadata: { name: 'web', namespace: 'default', uid: 'u1' } },
        worker: {
          runtime,
          records: running().map(({ name, cpuSeconds }) => ({
            spec: { name },
            current: {
              startedMs: 1,
              container: { cpuSeconds },
            },
          })),
        },
      },
    ],
  }) as unknown as KubeletNode;

const cpuOf = (text: string): number => Number(/^node_cpu_usage_seconds_total (\S+)/m.exec(text)?.[1]);

test('the CPU time of a node does not go back when a container ends', async () => {
  let running: readonly FakeContainer[] = [
    { name: 'a', cpuSeconds: 5 },
    { name: 'b', cpuSeconds: 7 },
  ];
  const node = nodeOf(() => running);
  const seen = [cpuOf(await resourceMetrics(node, 1000))];
  running = [{ name: 'b', cpuSeconds: 8 }];
  seen.push(cpuOf(await resourceMetrics(node, 2000)), cpuOf(await resourceMetrics(node, 3000)));
  expect(seen).toEqual([12, 13, 13]);
});
