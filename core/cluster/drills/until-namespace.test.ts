import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta/index.ts';
import { untilNamespace } from './until-namespace.ts';

const NAMESPACE: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'drill-a', deletionTimestamp: '2026-01-01T00:00:00Z' },
};

/** A cluster in which the namespace is being deleted for `deletedAfterMs`. */
const worldOf = (deletedAfterMs: number) => {
  let nowMs = 0;
  const world = {
    objects: () =>
      Promise.resolve({
        find: () => Promise.resolve(nowMs < deletedAfterMs ? NAMESPACE : undefined),
      }),
    supervisor: {
      clock: { monotonicMs: () => nowMs },
      wait: (ms: number) => {
        nowMs += ms;
        return Promise.resolve();
      },
    },
  };
  return { world: world as unknown as Parameters<typeof untilNamespace>[0], nowMs: () => nowMs };
};

test('waits as long as the namespace is being deleted', async () => {
  const { world, nowMs } = worldOf(5_000);
  await untilNamespace(world, 'drill-a', (found) => found === undefined);
  expect(nowMs()).toBe(5_000);
});

test('a namespace that may be written to is not waited for', async () => {
  const { world, nowMs } = worldOf(5_000);
  await untilNamespace(world, 'drill-a', (found) => found?.metadata?.name === 'drill-a');
  expect(nowMs()).toBe(0);
});

test('a namespace whose deletion hangs is reported by name', async () => {
  const { world, nowMs } = worldOf(Infinity);
  await expect(untilNamespace(world, 'drill-a', (found) => found === undefined)).rejects.toMatchObject({
    reason: 'Conflict',
    said: { code: 'drill.leftOver', values: { namespace: 'drill-a' } },
  });
  expect(nowMs()).toBe(60_000);
});
