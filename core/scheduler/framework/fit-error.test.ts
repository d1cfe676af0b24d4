import { expect, test } from 'vitest';
import { makeHarness } from '../testing/harness.ts';
import { makeNode, makePod } from '../testing/objects.ts';
import { fitErrorMessage } from './fit-error.ts';

const messageFor = async (pod: Parameters<typeof makePod>[1]): Promise<string> => {
  const harness = makeHarness();
  harness.addNodes([
    ...['n1', 'n2', 'n3'].map((name) => makeNode(name, { allocatable: { cpu: '1' } })),
    ...['n4', 'n5'].map((name) =>
      makeNode(name, { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] }),
    ),
  ]);
  const decision = await harness.decide(makePod('p', pod));
  return decision.kind === 'unschedulable' ? fitErrorMessage(decision.diagnosis) : decision.kind;
};

test('reasons are counted and sorted as text', async () => {
  expect(await messageFor({ requests: { cpu: '2' } })).toBe(
    '0/5 nodes are available: 2 node(s) had untolerated taint {k: v}, 3 Insufficient cpu.',
  );
});

test('a node that lacks two resources counts for both', async () => {
  expect(await messageFor({ requests: { cpu: '2', memory: '64Gi' } })).toBe(
    '0/5 nodes are available: 2 node(s) had untolerated taint {k: v}, 3 Insufficient cpu, 3 Insufficient memory.',
  );
});

test('nodes that a plugin left out beforehand are named by that plugin', async () => {
  const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] };
  expect(
    await messageFor({
      requests: { cpu: '2' },
      spec: {
        affinity: {
          nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } },
        },
      },
    }),
  ).toBe("0/5 nodes are available: 1 Insufficient cpu, 4 node(s) didn't satisfy plugin(s) [NodeAffinity].");
});
