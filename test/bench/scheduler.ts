import { systemClock } from '../../core/base/node/clock.ts';
import type { Node, Pod } from '../../core/scheduler/model/objects.ts';
import { makeHarness } from '../../core/scheduler/testing/harness.ts';
import { makeNode, makePod, type PodOptions } from '../../core/scheduler/testing/objects.ts';
import { runEndToEnd } from './scheduler-end-to-end/run.ts';

/**
 * The scheduling algorithm alone, in the shapes of upstream's scheduler_perf: nodes of 4 CPU, 32 GiB and 110
 * pods, pods of 100m and 500 MiB. A measured pod goes through parsing, snapshot, filters, scores, choice and
 * assumption; queue, binding and API server are left out.
 */
interface Shape {
  readonly name: string;
  /** Pods per second that upstream's own suite asks for at 5,000 nodes. */
  readonly floorPerSecond: number;
  readonly node: (n: number) => Node;
  readonly initialPods: number;
  readonly initialPod: (n: number) => Pod;
  readonly pod: (n: number) => Pod;
}

const NODE_COUNTS = [500, 5000];
const MEASURED_PODS = 1000;
const ROUNDS = 3;
const ZONES = ['moon-1', 'moon-2', 'moon-3'];
const ZONE = 'topology.kubernetes.io/zone';
const REQUESTS = { cpu: '100m', memory: '500Mi' };

const plainNode = (n: number): Node => makeNode(`node-${n}`);
const zoneNode = (n: number): Node => makeNode(`node-${n}`, { labels: { [ZONE]: ZONES[n % ZONES.length]! } });
const pod = (name: string, options: PodOptions = {}): Pod =>
  makePod(name, { requests: REQUESTS, ...options });
const plainPod = (n: number): Pod => pod(`initial-${n}`);

const antiAffinePod = (name: string, namespace: string): Pod =>
  pod(name, {
    namespace,
    labels: { color: 'green' },
    spec: {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            {
              labelSelector: { matchLabels: { color: 'green' } },
              topologyKey: 'kubernetes.io/hostname',
              namespaces: ['sched-1', 'sched-0'],
            },
          ],
        },
      },
    },
  });

const affinePod = (name: string, namespace: string): Pod =>
  pod(name, {
    namespace,
    labels: { color: 'blue' },
    spec: {
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            {
              labelSelector: { matchLabels: { color: 'blue' } },
              topologyKey: ZONE,
              namespaces: ['sched-1', 'sched-0'],
            },
          ],
        },
      },
    },
  });

const preferringPod = (name: string, namespace: string): Pod =>
  pod(name, {
    namespace,
    labels: { color: 'red' },
    spec: {
      affinity: {
        podAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            {
              weight: 1,
              podAffinityTerm: {
                labelSelector: { matchLabels: { color: 'red' } },
                topologyKey: 'kubernetes.io/hostname',
                namespaces: ['sched-1', 'sched-0'],
              },
            },
          ],
        },
      },
    },
  });

const spreadPod = (name: string, whenUnsatisfiable: string): Pod =>
  pod(name, {
    labels: { color: 'blue' },
    spec: {
      topologySpreadConstraints: [
        {
          maxSkew: 5,
          topologyKey: ZONE,
          whenUnsatisfiable,
          labelSelector: { matchLabels: { color: 'blue' } },
        },
      ],
    },
  });

const SHAPES: readonly Shape[] = [
  {
    name: 'SchedulingBasic',
    floorPerSecond: 680,
    node: plainNode,
    initialPods: 1000,
    initialPod: plainPod,
    pod: (n) => pod(`pod-${n}`),
  },
  {
    name: 'SchedulingNodeAffinity',
    floorPerSecond: 540,
    node: (n) => makeNode(`node-${n}`, { labels: { [ZONE]: 'zone1' } }),
    initialPods: 1000,
    initialPod: plainPod,
    pod: (n) =>
      pod(`pod-${n}`, {
        spec: {
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [
                  { matchExpressions: [{ key: ZONE, operator: 'In', values: ['zone1', 'zone2'] }] },
                ],
              },
            },
          },
        },
      }),
  },
  {
    name: 'SchedulingPodAntiAffinity',
    floorPerSecond: 180,
    node: plainNode,
    initialPods: 1000,
    initialPod: (n) => antiAffinePod(`initial-${n}`, 'sched-0'),
    pod: (n) => antiAffinePod(`pod-${n}`, 'sched-1'),
  },
  {
    name: 'SchedulingPodAffinity',
    floorPerSecond: 70,
    node: zoneNode,
    initialPods: 1000,
    initialPod: (n) => affinePod(`initial-${n}`, 'sched-0'),
    pod: (n) => affinePod(`pod-${n}`, 'sched-1'),
  },
  {
    name: 'SchedulingPreferredPodAffinity',
    floorPerSecond: 160,
    node: plainNode,
    initialPods: 1000,
    initialPod: (n) => preferringPod(`initial-${n}`, 'sched-0'),
    pod: (n) => preferringPod(`pod-${n}`, 'sched-1'),
  },
  {
    name: 'TopologySpreading',
    floorPerSecond: 460,
    node: zoneNode,
    initialPods: 5000,
    initialPod: plainPod,
    pod: (n) => spreadPod(`pod-${n}`, 'DoNotSchedule'),
  },
  {
    name: 'PreferredTopologySpreading',
    floorPerSecond: 340,
    node: zoneNode,
    initialPods: 5000,
    initialPod: plainPod,
    pod: (n) => spreadPod(`pod-${n}`, 'ScheduleAnyway'),
  },
];

interface Measured {
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly placed: number;
}

const measure = async (shape: Shape, nodeCount: number): Promise<Measured> => {
  const harness = makeHarness({ clock: systemClock, seed: 7 });
  harness.addNodes(Array.from({ length: nodeCount }, (_, n) => shape.node(n)));
  // A small cluster cannot hold what only one pod a node may have.
  const initial = Math.min(shape.initialPods, Math.floor(nodeCount / 2));
  for (let n = 0; n < initial; n += 1) await harness.schedule(shape.initialPod(n));
  const latencies: number[] = [];
  let placed = 0;
  const from = performance.now();
  for (let n = 0; n < MEASURED_PODS; n += 1) {
    const begun = performance.now();
    const decision = await harness.schedule(shape.pod(n));
    latencies.push(performance.now() - begun);
    if (decision.kind === 'placed') placed += 1;
  }
  const seconds = (performance.now() - from) / 1000;
  latencies.sort((a, b) => a - b);
  return {
    perSecond: MEASURED_PODS / seconds,
    p99Ms: latencies[Math.floor(MEASURED_PODS * 0.99)] ?? NaN,
    placed,
  };
};

const runAlgorithm = async (args: readonly string[]): Promise<void> => {
  const rounds = args.includes('--quick') ? 1 : ROUNDS;
  console.log(
    `${MEASURED_PODS} measured pods, one core, best of ${rounds}; floor is upstream's at 5,000 nodes`,
  );
  for (const nodeCount of NODE_COUNTS)
    for (const shape of SHAPES) {
      const results: Measured[] = [];
      for (let round = 0; round < rounds; round += 1) results.push(await measure(shape, nodeCount));
      const best = results.reduce((a, b) => (b.perSecond > a.perSecond ? b : a));
      console.log(
        [
          shape.name.padEnd(32),
          `${nodeCount} nodes`.padStart(11),
          `${best.perSecond.toFixed(0)} pods/s`.padStart(15),
          `p99 ${best.p99Ms.toFixed(2)} ms`.padStart(14),
          `placed ${best.placed}`.padStart(12),
          nodeCount === 5000 ? `${(best.perSecond / shape.floorPerSecond).toFixed(1)} x floor` : '',
        ].join('  '),
      );
    }
};

/** `--algorithm` and `--end-to-end` run one half alone. */
export const run = async (args: readonly string[]): Promise<void> => {
  if (!args.includes('--end-to-end')) await runAlgorithm(args);
  if (!args.includes('--algorithm')) await runEndToEnd(args);
};
