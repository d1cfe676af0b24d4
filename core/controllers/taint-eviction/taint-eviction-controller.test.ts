import { expect, test } from 'vitest';
import { formatTime } from '../../api/meta/index.ts';
import { NODE, POD } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { taintEvictionController } from './taint-eviction-controller.ts';
import { tolerates } from './tolerations.ts';

const KEY = 'node.kubernetes.io/unreachable';
const pod = (name: string, ...tolerations: object[]) => ({
  metadata: { name },
  spec: { nodeName: 'n', containers: [], tolerations: tolerations as never },
  status: { phase: 'Running' },
});
const taint = (api: FakeApi) =>
  api.edit(NODE, 'n', (node) => {
    node.spec = { taints: [{ key: KEY, effect: 'NoExecute', timeAdded: formatTime(api.clock.nowMs()) }] };
  });
const untaint = (api: FakeApi) => api.edit(NODE, 'n', (node) => (node.spec = {}));
const leaving = (api: FakeApi) =>
  api
    .list(POD)
    .filter(({ metadata }) => metadata.deletionTimestamp)
    .map(({ metadata }) => metadata.name);
const forSeconds = (tolerationSeconds: number) => ({
  key: KEY,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds,
});

const fixture = async (...pods: ReturnType<typeof pod>[]) => {
  const api = new FakeApi();
  api.seed(NODE, { metadata: { name: 'n' } });
  api.seed(POD, ...pods);
  return { api, running: await startOnFake(api, taintEvictionController) };
};

test('pods leave immediately, after their seconds, or never', async () => {
  const { api, running } = await fixture(
    pod('none'),
    pod('five-minutes', forSeconds(300)),
    pod('forever', { operator: 'Exists' }),
  );
  taint(api);
  await api.settle();
  expect(leaving(api)).toEqual(['none']);
  expect(api.get(POD, 'none').status?.conditions).toMatchObject([
    {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
    },
  ]);
  await api.advance(299_000);
  expect(leaving(api)).toEqual(['none']);
  await api.advance(1_000);
  expect(leaving(api)).toEqual(['five-minutes', 'none']);
  await running.stop();
});

test('a taint that goes in time calls it off', async () => {
  const { api, running } = await fixture(pod('p', forSeconds(300)));
  taint(api);
  await api.advance(200_000);
  untaint(api);
  await api.advance(200_000);
  expect([leaving(api), running.events]).toEqual([
    [],
    ['Normal TaintManagerEviction default/p: Cancelling deletion of Pod default/p'],
  ]);
  await running.stop();
});

test('a restart does not start the seconds over', async () => {
  const { api, running } = await fixture(pod('p', forSeconds(300)));
  taint(api);
  await api.advance(200_000);
  await running.stop();
  const again = await startOnFake(api, taintEvictionController);
  await api.advance(101_000);
  expect(leaving(api)).toEqual(['p']);
  await again.stop();
});

test.each([
  [{ operator: 'Exists' }, true],
  [{ key: 'k', operator: 'Exists', effect: 'NoSchedule' }, false],
  [{ key: 'k', value: 'v' }, true],
  [{ key: 'k', operator: 'Equal', value: 'w' }, false],
  [{ key: 'j', operator: 'Exists' }, false],
])('%j tolerates k=v:NoExecute: %s', (toleration, expected) => {
  expect(tolerates(toleration, { key: 'k', value: 'v', effect: 'NoExecute' })).toBe(expected);
});
