import { expect, test } from 'vitest';
import type { V1Taint } from '../../api/schema/index.ts';
import {
  CONTROLLER_REVISION,
  DAEMON_SET,
  NODE,
  POD,
  type DaemonSet,
  type Node,
  type Pod,
  type Stored,
} from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { actAsKubelet, finish } from '../workloads/testing/pods.ts';
import { runOn } from '../workloads/testing/run-controller.ts';
import { DAEMONSET_CONTROLLER } from './index.ts';
import { targetNodeOf } from './node-fit.ts';

type Spec = Partial<NonNullable<DaemonSet['spec']>>;

const template = (spec: Partial<NonNullable<Pod['spec']>> = {}) => ({
  metadata: { labels: { app: 'agent' } },
  spec: { containers: [{ name: 'c', image: 'v1' }], ...spec },
});
const daemonSet = (spec: Spec = {}): DaemonSet => ({
  metadata: { name: 'agent', uid: 'ds-uid' },
  spec: { selector: { matchLabels: { app: 'agent' } }, template: template(), ...spec },
});
const node = (name: string, taints?: V1Taint[], labels: Record<string, string> = {}): Node => ({
  metadata: { name, labels },
  spec: { ...(taints && { taints }) },
});

const start = async (spec: Spec = {}, nodes: readonly Node[] = ['a', 'b', 'c'].map((name) => node(name))) => {
  const api = new FakeApi();
  api.seed(NODE, ...nodes);
  api.seed(DAEMON_SET, daemonSet(spec));
  const running = await runOn(api, DAEMONSET_CONTROLLER);
  await api.settle();
  return { api, ...running };
};

/** `a:v1`, by node. */
const placed = (api: FakeApi): string[] =>
  api
    .list(POD)
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .map((pod) => `${targetNodeOf(pod)}:${pod.spec!.containers[0]!.image}`)
    .sort();
const setImage = (api: FakeApi, image: string): void =>
  void api.edit(DAEMON_SET, 'agent', (set) => {
    set.spec!.template.spec!.containers[0]!.image = image;
    set.metadata.generation = (set.metadata.generation ?? 1) + 1;
  });

test('each node has one pod, pinned to it and tolerant as daemons are', async () => {
  const { api, stop } = await start();
  await actAsKubelet(api);
  expect(placed(api)).toEqual(['a:v1', 'b:v1', 'c:v1']);
  const pod = api.list(POD).find((held) => targetNodeOf(held) === 'a')!;
  const hash = api.list(CONTROLLER_REVISION)[0]!.metadata.labels!['controller-revision-hash'];
  expect(pod).toMatchObject({
    metadata: { labels: { app: 'agent', 'controller-revision-hash': hash } },
    spec: {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] }],
          },
        },
      },
    },
  });
  expect(pod.spec!.tolerations!.map(({ key, effect }) => `${key?.split('/')[1]}:${effect}`)).toEqual([
    'not-ready:NoExecute',
    'unreachable:NoExecute',
    'disk-pressure:NoSchedule',
    'memory-pressure:NoSchedule',
    'pid-pressure:NoSchedule',
    'unschedulable:NoSchedule',
  ]);
  expect(api.get(DAEMON_SET, 'agent').status).toEqual({
    currentNumberScheduled: 3,
    desiredNumberScheduled: 3,
    numberAvailable: 3,
    numberMisscheduled: 0,
    numberReady: 3,
    observedGeneration: 1,
    updatedNumberScheduled: 3,
  });
  await stop();
});

test('nodes are chosen by selector, affinity and taints', async () => {
  const taint = (effect: string): V1Taint[] => [{ key: 'only', value: 'db', effect }];
  const { api, stop } = await start(
    {
      template: template({
        nodeSelector: { disk: 'ssd' },
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['z'] }] }],
            },
          },
        },
        tolerations: [{ key: 'mine', operator: 'Exists' }],
      }),
    },
    [
      node('fits', undefined, { disk: 'ssd' }),
      node('tolerated', [{ key: 'mine', effect: 'NoExecute' }], { disk: 'ssd' }),
      node('cordoned', [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }], { disk: 'ssd' }),
      node('preferred-not', taint('PreferNoSchedule'), { disk: 'ssd' }),
      node('no-label'),
      node('wrong-zone', undefined, { disk: 'ssd', zone: 'z' }),
      node('tainted', taint('NoSchedule'), { disk: 'ssd' }),
    ],
  );
  expect(placed(api)).toEqual(['cordoned:v1', 'fits:v1', 'preferred-not:v1', 'tolerated:v1']);
  await stop();
});

test('a pod follows its node: it comes with it, stays under NoSchedule, and goes with NoExecute', async () => {
  const { api, stop } = await start();
  await actAsKubelet(api);
  api.seed(NODE, node('d'));
  await actAsKubelet(api);
  expect(placed(api)).toEqual(['a:v1', 'b:v1', 'c:v1', 'd:v1']);
  const setTaint = (name: string, effect: string): void =>
    void api.edit(NODE, name, (held) => (held.spec = { taints: [{ key: 'k', effect }] }));
  setTaint('a', 'NoSchedule');
  setTaint('b', 'NoExecute');
  await actAsKubelet(api);
  expect(placed(api)).toEqual(['a:v1', 'c:v1', 'd:v1']);
  expect(api.get(DAEMON_SET, 'agent').status).toMatchObject({
    desiredNumberScheduled: 2,
    numberMisscheduled: 1,
  });
  await stop();
});

test('a pod for a node that is gone before it was bound is deleted', async () => {
  const { api, stop } = await start();
  api.remove(NODE, 'b');
  await api.settle();
  expect(placed(api)).toEqual(['a:v1', 'c:v1']);
  await stop();
});

test('a rolling update replaces as many at the same time as may be unavailable', async () => {
  const { api, stop } = await start({
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
  });
  await actAsKubelet(api);
  for (const { metadata } of api.list(POD))
    api.edit(POD, metadata.name, (pod) => (pod.spec!.nodeName = targetNodeOf(pod)!));
  setImage(api, 'v2');
  await api.settle();
  expect(api.list(POD).filter(({ metadata }) => metadata.deletionTimestamp)).toHaveLength(1);
  await actAsKubelet(api);
  expect(placed(api)).toEqual(['a:v2', 'b:v2', 'c:v2']);
  expect(
    api
      .list(CONTROLLER_REVISION)
      .map(({ revision }) => revision)
      .sort(),
  ).toEqual([1, 2]);
  await stop();
});

test('pods of a bad template do not spread beyond what may be unavailable', async () => {
  const { api, stop } = await start();
  const isGood = (pod: Stored<Pod>): boolean => pod.spec!.containers[0]!.image !== 'bad';
  await actAsKubelet(api, isGood);
  setImage(api, 'bad');
  await actAsKubelet(api, isGood);
  expect(placed(api).filter((text) => text.endsWith(':bad'))).toHaveLength(1);
  setImage(api, 'v3');
  await actAsKubelet(api, isGood);
  expect(placed(api)).toEqual(['a:v3', 'b:v3', 'c:v3']);
  await stop();
});

test('with surge the old pod stays until the new one is available', async () => {
  const { api, stop } = await start({
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
  });
  await actAsKubelet(api);
  setImage(api, 'v2');
  await api.settle();
  expect(placed(api)).toHaveLength(4);
  expect(placed(api).filter((text) => text.endsWith(':v1'))).toHaveLength(3);
  await actAsKubelet(api);
  expect(placed(api)).toEqual(['a:v2', 'b:v2', 'c:v2']);
  await stop();
});

test('OnDelete leaves old pods until somebody deletes them', async () => {
  const { api, stop } = await start({ updateStrategy: { type: 'OnDelete' } });
  await actAsKubelet(api);
  setImage(api, 'v2');
  await actAsKubelet(api);
  expect(placed(api)).toEqual(['a:v1', 'b:v1', 'c:v1']);
  api.remove(POD, api.list(POD).find((pod) => targetNodeOf(pod) === 'b')!.metadata.name);
  await actAsKubelet(api);
  expect(placed(api)).toEqual(['a:v1', 'b:v2', 'c:v1']);
  await stop();
});

test('failed pods are replaced, the second on a node only after a pause', async () => {
  const { api, events, stop } = await start({}, [node('a')]);
  const failNow = async (): Promise<string> => {
    const { name } = api.list(POD)[0]!.metadata;
    finish(api, name, 'Failed');
    await api.settle();
    return name;
  };
  const first = await failNow();
  expect(events.at(-3)).toBe(
    `Warning FailedDaemonPod Found failed daemon pod default/${first} on node a, will try to kill it`,
  );
  const second = await failNow();
  expect(api.list(POD)[0]!.metadata.name).toBe(second);
  await api.advance(1000);
  expect(api.list(POD)[0]!.metadata.name).not.toBe(second);
  await stop();
});

test('of two pods on one node the older stays', async () => {
  const { api, stop } = await start({}, [node('a')]);
  await actAsKubelet(api);
  const [kept] = api.list(POD);
  const { resourceVersion: _, uid: __, ...metadata } = kept!.metadata;
  api.seed(POD, {
    ...kept!,
    metadata: { ...metadata, name: 'agent-zz', creationTimestamp: '2026-02-01T00:00:00Z' },
  });
  await api.settle();
  expect(api.list(POD).map((pod) => pod.metadata.name)).toEqual([kept!.metadata.name]);
  await stop();
});
