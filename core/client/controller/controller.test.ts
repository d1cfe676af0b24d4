import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { formatTime } from '../../api/meta/time.ts';
import { selectorFromSet } from '../../api/selector/index.ts';
import { CONFIG_MAP, POD, REPLICA_SET, type Pod, type ReplicaSet } from '../kinds.ts';
import { FakeApi } from '../testing/index.ts';
import {
  claimObjects,
  controllerReference,
  Expectations,
  fnv32a,
  isPodAvailable,
  podsToDelete,
  slowStart,
  templateHash,
  UidTrackingExpectations,
  updateOnConflict,
} from './index.ts';

const NOW_MS = 1_767_225_600_000;

test('a cache is trusted when all was seen, or five minutes have passed', () => {
  const clock = manualClock();
  const expectations = new Expectations(clock);
  expect(expectations.satisfied('a')).toBe(true);
  expectations.expect('a', { creations: 2, deletions: 1 });
  expectations.creationObserved('a', 2);
  expect(expectations.satisfied('a')).toBe(false);
  expectations.deletionObserved('a');
  expect(expectations.satisfied('a')).toBe(true);
  expectations.expect('a', { creations: 1 });
  clock.advance(300_000);
  expect(expectations.satisfied('a')).toBe(false);
  clock.advance(1);
  expect(expectations.satisfied('a')).toBe(true);
});

test('a deletion that is announced twice counts once', () => {
  const expectations = new UidTrackingExpectations(manualClock());
  expectations.expectDeletions('rs', ['default/a', 'default/b']);
  expectations.deletionObserved('rs', 'default/a');
  expectations.deletionObserved('rs', 'default/a');
  expect(expectations.satisfied('rs')).toBe(false);
  expectations.deletionObserved('rs', 'default/b');
  expect(expectations.satisfied('rs')).toBe(true);
});

const pod = (name: string, labels: Record<string, string>, owner?: string): Pod => ({
  metadata: {
    name,
    labels,
    ...(owner && {
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x', uid: owner, controller: true },
      ],
    }),
  },
  spec: { containers: [] },
});
const replicaSet: ReplicaSet = {
  metadata: { name: 'web', uid: 'rs-uid' },
  spec: { selector: { matchLabels: { app: 'web' } }, template: {} },
};

test('matching orphans are adopted, others of the owner released, and what is of others is left', async () => {
  const api = new FakeApi();
  const [owner] = api.seed(REPLICA_SET, replicaSet);
  const objects = api.seed(
    POD,
    pod('orphan', { app: 'web' }),
    pod('mine', { app: 'web' }, 'rs-uid'),
    pod('strayed', { app: 'other' }, 'rs-uid'),
    pod('foreign', { app: 'web' }, 'other-uid'),
    pod('stranger', { app: 'x' }),
  );
  const claimed = await claimObjects({
    client: api.client(),
    owner: owner!,
    ownerKind: REPLICA_SET,
    kind: POD,
    selector: selectorFromSet({ app: 'web' }),
    objects,
  });
  expect(claimed.map(({ metadata }) => metadata.name)).toEqual(['orphan', 'mine']);
  expect(api.writes()).toEqual(['patch pods default/orphan', 'patch pods default/strayed']);
  expect(api.get(POD, 'orphan').metadata.ownerReferences).toEqual([controllerReference(REPLICA_SET, owner!)]);
  expect(api.get(POD, 'strayed').metadata.ownerReferences ?? []).toEqual([]);
});

test('an owner that was deleted and recreated adopts nothing', async () => {
  const api = new FakeApi();
  const [owner] = api.seed(REPLICA_SET, replicaSet);
  api.remove(REPLICA_SET, 'web');
  api.seed(REPLICA_SET, { ...replicaSet, metadata: { name: 'web', uid: 'new' } });
  const claimed = await claimObjects({
    client: api.client(),
    owner: owner!,
    ownerKind: REPLICA_SET,
    kind: POD,
    selector: selectorFromSet({ app: 'web' }),
    objects: api.seed(POD, pod('orphan', { app: 'web' })),
  });
  expect([claimed, api.writes()]).toEqual([[], []]);
});

const running = (name: string, readySinceSeconds?: number, more: Partial<Pod> = {}): Pod => ({
  metadata: { name, uid: name, creationTimestamp: formatTime(NOW_MS - 1_000_000) },
  spec: { nodeName: 'n', containers: [] },
  status: {
    phase: 'Running',
    ...(readySinceSeconds !== undefined && {
      conditions: [
        { type: 'Ready', status: 'True', lastTransitionTime: formatTime(NOW_MS - readySinceSeconds * 1000) },
      ],
    }),
  },
  ...more,
});

test('pods go in the order upstream takes them', () => {
  const cost = (value: string) => ({
    metadata: {
      name: `cost${value}`,
      uid: 'c',
      annotations: { 'controller.kubernetes.io/pod-deletion-cost': value },
    },
  });
  const pods = [
    running('old', 100_000),
    running('expensive', 10, cost('10')),
    running('young', 10),
    running('unready'),
    running('pending', undefined, { status: { phase: 'Pending' } }),
    running('unassigned', undefined, { spec: { containers: [] }, status: { phase: 'Pending' } }),
    running('cheap', 10, cost('-10')),
  ];
  const order = podsToDelete(pods, 6, { nowMs: NOW_MS }).map(({ metadata }) => metadata?.name);
  expect(order).toEqual(['unassigned', 'pending', 'unready', 'cost-10', 'young', 'old']);
});

test('a pod is available when it has been ready long enough', () => {
  expect([0, 5, 11].map((seconds) => isPodAvailable(running('a', 10), seconds, NOW_MS))).toEqual([
    true,
    true,
    false,
  ]);
  expect(isPodAvailable(running('a'), 0, NOW_MS)).toBe(false);
});

test('a slow start stops after the batch that failed', async () => {
  const started: number[] = [];
  const result = await slowStart(10, async (index) => {
    started.push(index);
    if (index === 4) throw new Error('quota');
    await Promise.resolve();
  });
  expect(started).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect([result.succeeded, (result.error as Error).message]).toEqual([6, 'quota']);
});

test('hashes depend on the content of a template, not on its order, and use safe letters', () => {
  expect(fnv32a('foobar')).toBe(0xbf9cf968);
  const hash = templateHash({ a: 1, b: [{ c: 'x', d: undefined }] });
  expect(templateHash({ b: [{ c: 'x' }], a: 1 })).toBe(hash);
  expect(templateHash({ a: 1, b: [{ c: 'x' }] }, 1)).not.toBe(hash);
  expect(hash).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
});

test('an update that meets a conflict reads again', async () => {
  const api = new FakeApi();
  api.seed(CONFIG_MAP, { metadata: { name: 'a' }, data: { n: '0' } });
  let tries = 0;
  const updating = updateOnConflict(api.client().resource(CONFIG_MAP, 'default'), 'a', {
    clock: api.clock,
    change: (object) => {
      tries += 1;
      if (tries < 3) api.edit(CONFIG_MAP, 'a', (o) => (o.data = { n: String(tries) }));
      return { ...object, data: { ...object.data, mine: '1' } };
    },
  });
  await api.advance(1_000, 10);
  expect((await updating).data).toEqual({ n: '2', mine: '1' });
});
