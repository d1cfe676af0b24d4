import { expect, test } from 'vitest';
import { NODE, POD, type Pod } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { podGarbageCollector } from './pod-garbage-collector.ts';

const pod = (
  name: string,
  more: { node?: string; phase?: string; reason?: string; at?: string } = {},
): Pod => ({
  metadata: { name, ...(more.at && { creationTimestamp: more.at }) },
  spec: { containers: [], ...(more.node && { nodeName: more.node }) },
  status: { phase: more.phase ?? 'Running', ...(more.reason && { reason: more.reason }) },
});
const names = (api: FakeApi) => api.list(POD).map(({ metadata }) => metadata.name);

test('pods of a node that is gone are failed and deleted, forty seconds after it was missed', async () => {
  const api = new FakeApi();
  api.seed(NODE, { metadata: { name: 'here' } });
  api.seed(POD, pod('a', { node: 'here' }), pod('b', { node: 'gone' }), pod('c'));
  const running = await startOnFake(api, podGarbageCollector);
  await api.advance(39_000, 1_000);
  expect(names(api)).toEqual(['a', 'b', 'c']);
  const seen: unknown[] = [];
  api.intercept(({ verb, body }) => void (verb === 'patch' && seen.push(body)));
  await api.advance(2_000, 1_000);
  expect(names(api)).toEqual(['a', 'c']);
  expect(seen).toMatchObject([
    {
      status: {
        phase: 'Failed',
        conditions: [
          { type: 'DisruptionTarget', reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists' },
        ],
      },
    },
  ]);
  await running.stop();
});

test('above the threshold evicted pods go first, then the oldest', async () => {
  const api = new FakeApi();
  api.seed(
    POD,
    pod('old', { phase: 'Succeeded', at: '2026-01-01T00:00:00Z' }),
    pod('new', { phase: 'Failed', at: '2026-01-03T00:00:00Z' }),
    pod('evicted', { phase: 'Failed', reason: 'Evicted', at: '2026-01-04T00:00:00Z' }),
    pod('running'),
  );
  const running = await startOnFake(api, podGarbageCollector, { 'terminated-pod-gc-threshold': 1 });
  expect(names(api)).toEqual(['new', 'running']);
  await running.stop();
});

test('terminating pods without a node, or on a node out of service, are deleted', async () => {
  const api = new FakeApi();
  const ending = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 };
  api.seed(NODE, {
    metadata: { name: 'dead' },
    spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] },
  });
  api.seed(NODE, { metadata: { name: 'slow' } });
  for (const one of [pod('unbound'), pod('dead', { node: 'dead' }), pod('slow', { node: 'slow' })]) {
    api.seed(POD, one);
    api.edit(POD, one.metadata!.name!, ({ metadata }) => void Object.assign(metadata, ending));
  }
  const running = await startOnFake(api, podGarbageCollector);
  expect(names(api)).toEqual(['slow']);
  await running.stop();
});
