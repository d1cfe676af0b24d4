import { expect, test } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import { podInfoOf } from '../model/pod-info.ts';
import type { Pod } from '../model/objects.ts';
import type { PodDisruptionBudget } from '../framework/listers.ts';
import { makeHarness, type Harness } from '../testing/harness.ts';
import { makeNode, makePod, type PodOptions } from '../testing/objects.ts';
import { findCandidates, pickCandidate, type Candidate } from './candidates.ts';

const placed = (name: string, node: string, priority: number, options: PodOptions = {}): Pod =>
  makePod(name, {
    requests: { cpu: '1' },
    status: { startTime: '2026-01-01T00:00:00Z' },
    ...options,
    spec: { nodeName: node, priority, ...options.spec },
  });

const search = async (
  harness: Harness,
  pod: Pod,
  budgets: readonly PodDisruptionBudget[] = [],
): Promise<readonly Candidate[]> => {
  const info = podInfoOf(pod);
  const cycle = harness.newCycle();
  const decision = await harness.algorithm.decide(harness.framework, cycle, info, {
    keepRaw: false,
    moveStart: false,
  });
  if (decision.kind !== 'unschedulable') throw new Error('the pod fits without preemption');
  return findCandidates(harness.framework, cycle, info, decision.diagnosis, {
    minCandidateNodesAbsolute: 100,
    minCandidateNodesPercentage: 10,
    random: seededRandom(1),
    budgets,
  }).candidates;
};

const names = (candidate: Candidate | undefined): readonly string[] =>
  candidate?.victims.map(({ pod }) => pod.metadata.name ?? '') ?? [];

test('as few and as unimportant pods as possible are chosen, and the snapshot is left as it was', async () => {
  const harness = makeHarness();
  harness.addNodes([makeNode('n1', { allocatable: { cpu: '3' } })]);
  harness.addPods([placed('a', 'n1', 5), placed('b', 'n1', 1), placed('c', 'n1', 3)]);
  const [candidate] = await search(harness, makePod('p', { requests: { cpu: '1' }, spec: { priority: 10 } }));
  expect(names(candidate)).toEqual(['b']);
  const { columns } = harness.snapshot;
  expect([columns.requestedMilliCpu[0], columns.podCount[0]]).toEqual([3000, 3]);
});

test('pods of equal or higher priority are never victims', async () => {
  const harness = makeHarness();
  harness.addNodes([makeNode('n1', { allocatable: { cpu: '2' } })]);
  harness.addPods([placed('a', 'n1', 10), placed('b', 'n1', 50)]);
  expect(await search(harness, makePod('p', { requests: { cpu: '1' }, spec: { priority: 10 } }))).toEqual([]);
});

test('a node whose victims break no budget wins over one whose do', async () => {
  const harness = makeHarness();
  harness.addNodes(['n1', 'n2'].map((name) => makeNode(name, { allocatable: { cpu: '1' } })));
  harness.addPods([placed('guarded', 'n1', 1, { labels: { app: 'db' } }), placed('free', 'n2', 9)]);
  const budget: PodDisruptionBudget = {
    metadata: { namespace: 'default', name: 'db' },
    spec: { selector: { matchLabels: { app: 'db' } } },
    status: { disruptionsAllowed: 0 },
  };
  const candidates = await search(harness, makePod('p', { requests: { cpu: '1' }, spec: { priority: 10 } }), [
    budget,
  ]);
  expect(names(pickCandidate(candidates))).toEqual(['free']);
});

test('among equal victims the younger ones go', async () => {
  const harness = makeHarness();
  harness.addNodes(['n1', 'n2'].map((name) => makeNode(name, { allocatable: { cpu: '1' } })));
  harness.addPods([
    placed('old', 'n1', 1),
    placed('young', 'n2', 1, { status: { startTime: '2026-02-01T00:00:00Z' } }),
  ]);
  const pod = makePod('p', { requests: { cpu: '1' }, spec: { priority: 10 } });
  expect(names(pickCandidate(await search(harness, pod)))).toEqual(['young']);
});

test('evicting a pod that anti-affinity keeps apart makes room', async () => {
  const harness = makeHarness();
  harness.addNodes([makeNode('n1')]);
  const apart: PodOptions['spec'] = {
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { labelSelector: { matchLabels: { app: 'x' } }, topologyKey: 'kubernetes.io/hostname' },
        ],
      },
    },
  };
  harness.addPods([placed('x', 'n1', 1, { labels: { app: 'x' } }), placed('other', 'n1', 1)]);
  const pod = makePod('p', { spec: { ...apart, priority: 10 } });
  expect((await search(harness, pod)).map(names)).toEqual([['x']]);
});
