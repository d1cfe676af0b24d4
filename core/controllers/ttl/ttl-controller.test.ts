import { expect, test } from 'vitest';
import { NODE } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { stepAfter, ttlController } from './ttl-controller.ts';

test.each([
  [0, 100, 0],
  [0, 101, 1],
  [1, 90, 1],
  [1, 89, 0],
  [0, 1500, 3],
  [5, 50, 0],
  [0, 1_000_000, 5],
])('from step %i with %i nodes comes step %i', (step, nodesCount, expected) => {
  expect(stepAfter(step, nodesCount)).toBe(expected);
});

test('all nodes are updated when the cluster grows past a step', async () => {
  const api = new FakeApi();
  api.seed(NODE, ...Array.from({ length: 100 }, (_, i) => ({ metadata: { name: `n${i}` } })));
  const running = await startOnFake(api, ttlController);
  const ttls = () =>
    new Set(api.list(NODE).map(({ metadata }) => metadata.annotations?.['node.alpha.kubernetes.io/ttl']));
  expect([...ttls()]).toEqual(['0']);
  api.seed(NODE, { metadata: { name: 'one-more' } });
  await api.settle();
  expect([...ttls()]).toEqual(['15']);
  await running.stop();
});
