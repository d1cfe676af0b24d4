import { expect, test } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import type { Pod } from '../model/objects.ts';
import { makeHarness, type Harness } from '../testing/harness.ts';
import { RandomCluster } from '../testing/random-cluster.ts';
import { referenceDecision, type ReferenceDecision, type World } from '../testing/reference.ts';
import type { Decision } from './algorithm.ts';
import { feasibleNodesToFind } from './search-size.ts';

const TEAMS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  default: { team: 'x' },
  prod: { team: 'y' },
};
const namespaceLabels = (namespace: string): Readonly<Record<string, string>> | undefined => TEAMS[namespace];

const summary = (harness: Harness, decision: Decision): ReferenceDecision => {
  if (decision.kind === 'error') throw new Error(decision.status.reasons.join(', '));
  const name = (slot: number): string => harness.snapshot.entry(slot).name;
  const rejected: Record<string, readonly string[]> = {};
  decision.diagnosis.statuses.forEach((slot, status) => (rejected[name(slot)] = status.reasons));
  if (decision.kind === 'unschedulable') return { feasible: [], rejected, totals: {}, chosen: undefined };
  const { scores } = decision;
  return {
    feasible: [...decision.feasible].map(name),
    rejected,
    totals: Object.fromEntries(
      [...(scores?.slots ?? [])].map((slot, at) => [name(slot), scores!.total[at]!]),
    ),
    chosen: decision.nodeName,
  };
};

/** Schedules pods one after another, with nodes and pods coming and going, and compares each decision. */
const compare = async (
  seed: number,
  nodeCount: number,
  podCount: number,
  reasonsSeen = new Set<string>(),
): Promise<number> => {
  const cluster = new RandomCluster(seededRandom(seed));
  const chaos = seededRandom(seed + 1_000_000);
  const harness = makeHarness({ seed, lister: { namespaceLabels } });
  const tieBreaks = seededRandom(seed);
  const podsOn = new Map<string, Pod[]>();
  const nodes = Array.from({ length: nodeCount }, (_, n) => cluster.node(`n${n}`));
  harness.addNodes(nodes);
  let placedCount = 0;
  for (let n = 0; n < podCount; n += 1) {
    const pod = cluster.pod(`p${n}`);
    const info = harness.newCycle();
    const world: World = {
      nodes: [...info.snapshot.order].map((slot) => info.snapshot.entry(slot).node),
      podsOn,
      namespaceLabels,
    };
    const { nextStartIndex } = harness.algorithm;
    const decision = await harness.schedule(pod);
    const expected = referenceDecision(world, pod, {
      startIndex: nextStartIndex,
      enough: feasibleNodesToFind(world.nodes.length, 0),
      random: tieBreaks,
    });
    expect({ seed, n, ...summary(harness, decision) }).toEqual({ seed, n, ...expected });
    for (const reason of Object.values(expected.rejected).flat())
      reasonsSeen.add(reason.replace(/ \{.*/, ''));
    if (decision.kind === 'placed') {
      placedCount += 1;
      podsOn.set(decision.nodeName, [...(podsOn.get(decision.nodeName) ?? []), pod]);
    }
    if (chaos.below(10) === 0) {
      const name = `n${chaos.below(nodeCount)}`;
      const changed = cluster.node(name);
      if (chaos.below(4) === 0) {
        harness.cache.removeNode(name);
        for (const gone of podsOn.get(name) ?? []) harness.cache.removePod(gone.metadata.uid ?? '');
        podsOn.delete(name);
      } else harness.cache.setNode(changed);
    }
    if (chaos.below(8) === 0) {
      const name = `n${chaos.below(nodeCount)}`;
      const [gone, ...left] = podsOn.get(name) ?? [];
      if (gone) {
        harness.cache.removePod(gone.metadata.uid ?? '');
        podsOn.set(name, left);
      }
    }
  }
  return placedCount;
};

test('decisions on columns equal those of the plain reference', async () => {
  let placed = 0;
  const reasonsSeen = new Set<string>();
  for (let seed = 1; seed <= 40; seed += 1) placed += await compare(seed, 4 + (seed % 12), 40, reasonsSeen);
  // A generator that leaves nothing to schedule, or that rules do not reject, would compare nothing.
  expect(placed).toBeGreaterThan(400);
  expect([...reasonsSeen].sort()).toEqual([
    'Insufficient cpu',
    'Insufficient example.com/gpu',
    'Insufficient memory',
    'Too many pods',
    "node(s) didn't have free ports for the requested pod ports",
    "node(s) didn't match Pod's node affinity/selector",
    "node(s) didn't match pod affinity rules",
    "node(s) didn't match pod anti-affinity rules",
    "node(s) didn't match pod topology spread constraints",
    "node(s) didn't match pod topology spread constraints (missing required label)",
    "node(s) didn't satisfy existing pods anti-affinity rules",
    'node(s) had untolerated taint',
    'node(s) were unschedulable',
  ]);
});

test('a search that stops early continues from where it stopped', async () => {
  expect(await compare(4711, 230, 12)).toBeGreaterThan(0);
});
