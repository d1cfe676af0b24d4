import { expect, test } from 'vitest';
import type { KubeletNode } from '../node/kubelet-node.ts';
import { resourceMetrics } from './stats.ts';

interface FakeContainer {
  readonly name: string;
  readonly cpuSeconds: number;
}

/** As much of a node as its figures are made of. */
const nodeOf = (running: () => readonly FakeContainer[]): KubeletNode =>
  ({
    entries: () => [
      {
        pod: { metadata: { name: 'web', namespace: 'default', uid: 'u1' } },
        worker: {
          records: running().map(({ name, cpuSeconds }) => ({
            spec: { name },
            current: {
              startedMs: 1,
              container: {
                usage: () => ({
                  cpuNanoCores: 0,
                  cpuCoreNanoSeconds: cpuSeconds * 1e9,
                  memoryBytes: 1024,
                }),
              },
            },
          })),
        },
      },
    ],
  }) as unknown as KubeletNode;

const cpuOf = (text: string): number => Number(/^node_cpu_usage_seconds_total (\S+)/m.exec(text)?.[1]);

test('the CPU time of a node does not go back when a container ends', () => {
  let running: readonly FakeContainer[] = [
    { name: 'a', cpuSeconds: 5 },
    { name: 'b', cpuSeconds: 7 },
  ];
  const node = nodeOf(() => running);
  const seen = [cpuOf(resourceMetrics(node, 1000))];
  running = [{ name: 'b', cpuSeconds: 8 }];
  seen.push(cpuOf(resourceMetrics(node, 2000)), cpuOf(resourceMetrics(node, 3000)));
  expect(seen).toEqual([12, 13, 13]);
});
