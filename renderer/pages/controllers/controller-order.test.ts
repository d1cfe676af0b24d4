import { expect, test } from 'vitest';
import type { ControllerView, KubeResource } from '../../../core/contract/index.ts';
import { byNeed, objectOf, totalOf } from './controller-order.ts';

const controller = (name: string, more: Partial<ControllerView> = {}): ControllerView => ({
  manager: 'kube-controller-manager',
  name,
  phase: 'running',
  error: '',
  queues: [],
  working: [],
  recent: [],
  failing: [],
  ...more,
});
const failed = {
  queue: 'q',
  key: 'a/b',
  startedAtMs: 0,
  durationMs: 1,
  outcome: 'failed' as const,
  error: 'x',
  retries: 0,
};

test('failing pods come first', () => {
  expect(
    byNeed([
      controller('b'),
      controller('a'),
      controller('c', { failing: [failed] }),
      controller('d', { phase: 'syncing' }),
    ]).map(({ name }) => name),
  ).toEqual(['c', 'd', 'a', 'b']);
});

test('figures of several queues are added; the longest run counts once', () => {
  const queue = { name: 'x', depth: 1, adds: 2, retries: 3, longestRunningSeconds: 4, unfinishedSeconds: 5 };
  expect(totalOf(controller('a', { queues: [queue, queue] }))).toEqual({
    depth: 2,
    adds: 4,
    retries: 6,
    longestRunningSeconds: 4,
    unfinishedSeconds: 10,
  });
});

test('a key leads to its object where it names one', () => {
  const deployments = { plural: 'deployments', isPreferred: true } as KubeResource;
  const at = (name: string, key: string) => objectOf(name, key, [deployments])?.name;
  expect([
    at('deployment-controller', 'default/web'),
    at('deployment-controller', 'a/b/c'),
    at('ttl-controller', 'x'),
  ]).toEqual(['web', undefined, undefined]);
});
