import { expect, test } from 'vitest';
import type { Pod } from '../../client/index.ts';
import {
  averageReplicas,
  groupPods,
  sharedReplicas,
  utilizationReplicas,
  valueReplicas,
  type PodCount,
  type PodMetric,
} from './replica-count.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const at = (secondsAgo: number): string => new Date(NOW - secondsAgo * 1000).toISOString();

interface PodShape {
  readonly phase?: string;
  readonly isReady?: boolean;
  readonly startedAgo?: number;
  readonly changedAgo?: number;
  readonly request?: string;
  readonly isDeleted?: boolean;
}

const pod = (name: string, shape: PodShape = {}): Pod => {
  const { phase = 'Running', isReady = true, startedAgo = 3600, changedAgo = 3590, request = '1' } = shape;
  return {
    metadata: { name, ...(shape.isDeleted && { deletionTimestamp: at(1) }) },
    spec: { containers: [{ name: 'app', resources: { requests: { cpu: request, memory: request } } }] },
    status: {
      phase,
      startTime: at(startedAgo),
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: at(changedAgo) }],
    },
  };
};
const metric = (milliValue: number, ago = 10): PodMetric => ({
  milliValue,
  timestampMs: NOW - ago * 1000,
  windowMs: 30_000,
});

const count = (
  pods: readonly Pod[],
  values: readonly (number | undefined)[],
  rest: Partial<PodCount> = {},
): PodCount => ({
  pods,
  metrics: new Map(
    values.flatMap((value, i) => (value === undefined ? [] : [[`p${i}`, metric(value)] as const])),
  ),
  currentReplicas: pods.length,
  resource: 'cpu',
  tolerances: { scaleDown: 0.1, scaleUp: 0.1 },
  rules: { cpuInitializationMs: 120_000, initialReadinessDelayMs: 10_000, nowMs: NOW },
  ...rest,
});
const pods = (shapes: readonly PodShape[]): Pod[] => shapes.map((shape, i) => pod(`p${i}`, shape));
const same = (length: number): Pod[] => pods(Array.from({ length }, () => ({})));

const utilization = (input: PodCount, target: number, container = '') =>
  utilizationReplicas(input, { target, container });

// The cases are those of upstream's replica calculator.
test.each([
  ['scales up', count(same(3), [300, 500, 700]), 30, { replicas: 5, utilization: 50, average: 500 }],
  [
    'scales down',
    count(same(5), [100, 300, 500, 250, 250]),
    50,
    { replicas: 3, utilization: 28, average: 280 },
  ],
  [
    'stays within the tolerance',
    count(same(3), [1010, 1030, 1020]),
    100,
    { replicas: 3, utilization: 102, average: 1020 },
  ],
  [
    'ignores the CPU of unready pods when it scales up',
    count(pods([{ isReady: false, startedAgo: 10, changedAgo: 10 }, {}, {}]), [100, 500, 700]),
    30,
    { replicas: 4, utilization: 60, average: 600 },
  ],
  [
    'does not scale up further than unready pods would explain',
    count(
      pods([
        {},
        { isReady: false, startedAgo: 10, changedAgo: 10 },
        { isReady: false, startedAgo: 10, changedAgo: 10 },
      ]),
      [400, 500, 700],
    ),
    30,
    { replicas: 3, utilization: 40, average: 400 },
  ],
  [
    'ignores failed pods',
    count(pods([{}, {}, { phase: 'Failed' }, { phase: 'Failed' }]), [500, 700, undefined, undefined], {
      currentReplicas: 2,
    }),
    50,
    { replicas: 3, utilization: 60, average: 600 },
  ],
  [
    'ignores pods that are deleted',
    count(pods([{}, {}, { isDeleted: true }, { isDeleted: true }]), [500, 700, undefined, undefined], {
      currentReplicas: 2,
    }),
    50,
    { replicas: 3, utilization: 60, average: 600 },
  ],
  [
    'takes missing pods for idle when it scales up',
    count(same(2), [1000, undefined], { currentReplicas: 2 }),
    24,
    { replicas: 5, utilization: 100, average: 1000 },
  ],
  [
    'takes missing pods for busy when it scales down',
    count(same(4), [100, 100, undefined, undefined]),
    50,
    { replicas: 4, utilization: 10, average: 100 },
  ],
  [
    'takes missing pods for as busy as the target above 100 percent',
    count(same(4), [1000, 1000, 1000, undefined]),
    200,
    { replicas: 3, utilization: 100, average: 1000 },
  ],
] as const)('by utilization, %s', (_what, input, target, expected) => {
  expect(utilization(input, target)).toEqual(expected);
});

test.each([
  ['no pod', count([], []), 'no pods returned by selector while calculating replica count'],
  [
    'no metric',
    count(same(2), [undefined, undefined]),
    'did not receive metrics for targeted pods (pods might be unready)',
  ],
  [
    'no request',
    count([{ ...pod('p0'), spec: { containers: [{ name: 'app' }] } }], [1]),
    'missing request for cpu in container app of Pod p0',
  ],
] as const)('without %s it fails with upstream’s words', (_what, input, message) => {
  expect(() => utilization(input, 50)).toThrow(message);
});

test('a container that no pod has is named', () => {
  expect(() => utilization(count(same(1), [1]), 50, 'sidecar')).toThrow(
    'container sidecar not found in Pod p0',
  );
});

test.each([
  ['scales up', count(same(3), [20_000, 10_000, 30_000], { resource: '' }), 15_000, 4],
  ['scales down', count(same(5), [12_000, 12_000, 12_000, 12_000, 12_000], { resource: '' }), 20_000, 3],
  ['stays', count(same(2), [1_000, 1_000], { resource: '' }), 1_050, 2],
  ['takes missing pods for idle', count(same(2), [60_000, undefined], { resource: '' }), 30_000, 2],
] as const)('by an average, it %s', (_what, input, target, replicas) => {
  expect(averageReplicas(input, target).replicas).toBe(replicas);
});

test('a pod that was never ready is no part of the average after its initialization', () => {
  const rules = { cpuInitializationMs: 120_000, initialReadinessDelayMs: 10_000, nowMs: NOW };
  const never = pod('a', { isReady: false, startedAgo: 300, changedAgo: 295 });
  const later = pod('b', { isReady: false, startedAgo: 300, changedAgo: 100 });
  const metrics = new Map([
    ['a', metric(1)],
    ['b', metric(1)],
  ]);
  const { unready, readyCount } = groupPods([never, later], metrics, 'cpu', rules);
  expect([[...unready], readyCount]).toEqual([['a'], 1]);
});

test('a sample that reaches back before the pod was ready is skipped', () => {
  const rules = { cpuInitializationMs: 120_000, initialReadinessDelayMs: 10_000, nowMs: NOW };
  const fresh = pod('a', { startedAgo: 60, changedAgo: 20 });
  expect(groupPods([fresh], new Map([['a', metric(1, 5)]]), 'cpu', rules).unready.has('a')).toBe(true);
  expect(groupPods([fresh], new Map([['a', metric(1, -20)]]), 'cpu', rules).unready.has('a')).toBe(false);
});

const tolerances = { scaleDown: 0.1, scaleUp: 0.1 };

test('one value for all counts ready pods, and scales from zero on its own', () => {
  const two = pods([{}, {}, { isReady: false }]);
  expect([
    valueReplicas(40_000, 10_000, { currentReplicas: 3, tolerances, pods: two }),
    valueReplicas(10_500, 10_000, { currentReplicas: 3, tolerances, pods: two }),
    valueReplicas(40_000, 10_000, { currentReplicas: 0, tolerances, pods: [] }),
  ]).toEqual([8, 3, 4]);
});

test('a shared value is divided by its target', () => {
  expect([
    sharedReplicas(8_600, 2_150, { statusReplicas: 3, tolerances }),
    sharedReplicas(8_600, 2_867, { statusReplicas: 3, tolerances }),
    sharedReplicas(1e30, 1, { statusReplicas: 3, tolerances }).replicas,
  ]).toEqual([{ replicas: 4, average: 2867 }, { replicas: 3, average: 2867 }, 2 ** 31 - 1]);
});

test('tolerances of both directions are separate', () => {
  const input = (up: number, down: number) =>
    count(same(4), [1200, 1200, 1200, 1200], { tolerances: { scaleUp: up, scaleDown: down } });
  expect([utilization(input(0.1, 0.5), 100).replicas, utilization(input(0.5, 0.1), 100).replicas]).toEqual([
    5, 4,
  ]);
});
