import { expect, test } from 'vitest';
import { makeHarness } from '../../testing/harness.ts';
import { makeNode, makePod } from '../../testing/objects.ts';
import type { ScoringStrategy } from './scoring-strategy.ts';

const NODES = [
  makeNode('small', { allocatable: { cpu: '4', memory: '10000Mi' } }),
  makeNode('large', { allocatable: { cpu: '10', memory: '20000Mi' } }),
];

/** Raw scores of NodeResourcesFit for a pod of 3 CPU and 5000 MiB. */
const scores = async (scoringStrategy: ScoringStrategy): Promise<readonly number[]> => {
  const harness = makeHarness({
    profile: { pluginConfig: new Map([['NodeResourcesFit', { scoringStrategy }]]) },
  });
  harness.addNodes(NODES);
  const decision = await harness.decide(makePod('p', { requests: { cpu: '3', memory: '5000Mi' } }));
  if (decision.kind !== 'placed') throw new Error('the pod fits both nodes');
  const fit = decision.scores?.plugins.find(({ name }) => name === 'NodeResourcesFit');
  return [...(fit?.raw ?? [])];
};

test('least allocated favours the emptier node', async () => {
  // ((4-3)/4 + (10-5)/10) / 2 and ((10-3)/10 + (20-5)/20) / 2, each part rounded down to percent
  expect(await scores({ type: 'LeastAllocated' })).toEqual([37, 72]);
});

test('most allocated favours the fuller node', async () => {
  expect(await scores({ type: 'MostAllocated' })).toEqual([62, 27]);
});

test('weights of resources count', async () => {
  const resources = [
    { name: 'cpu', weight: 3 },
    { name: 'memory', weight: 1 },
  ];
  expect(await scores({ type: 'LeastAllocated', resources })).toEqual([31, 71]);
});

test('a shape scores utilization by straight lines between its points', async () => {
  const shape = [
    { utilization: 0, score: 0 },
    { utilization: 50, score: 10 },
    { utilization: 100, score: 0 },
  ];
  // 75 % of CPU scores 50 and 50 % of memory 100; 30 % scores 60 and 25 % scores 50.
  expect(await scores({ type: 'RequestedToCapacityRatio', requestedToCapacityRatio: { shape } })).toEqual([
    75, 55,
  ]);
});
