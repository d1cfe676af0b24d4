import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta/index.ts';
import type { V1Pod } from '../../../api/schema/index.ts';
import type { AdmissionPlugin } from '../attributes.ts';
import { readerOf, verdict, wish } from '../testing/fixtures.ts';
import { alwaysPullImages } from './always-pull-images.ts';
import { defaultTolerationSeconds } from './default-toleration-seconds.ts';
import { extendedResourceToleration } from './extended-resource-toleration.ts';
import { priority } from './priority.ts';
import { runtimeClass } from './runtime-class.ts';
import { taintNodesByCondition } from './taint-nodes-by-condition.ts';
import { mergeTolerations } from './tolerations.ts';

const pod = (spec: object = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ns', name: 'p' },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});
const specAfter = async (plugin: AdmissionPlugin, spec: object = {}): Promise<V1Pod['spec']> => {
  const object = pod(spec);
  expect(await verdict(plugin, wish({ object }))).toBe('ok');
  return (object as V1Pod).spec;
};
const priorityClass = (name: string, value: number, rest: object = {}): KubernetesObject => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name },
  value,
  ...rest,
});

test('a pod gets the numbers of its priority class', async () => {
  const plugin = priority(readerOf([priorityClass('high', 100, { preemptionPolicy: 'Never' })]));
  expect(await specAfter(plugin, { priorityClassName: 'high' })).toMatchObject({
    priority: 100,
    preemptionPolicy: 'Never',
    priorityClassName: 'high',
  });
});

test('without a class a pod gets the lowest default class, and zero where there is none', async () => {
  const defaults = [
    priorityClass('a', 7, { globalDefault: true }),
    priorityClass('b', 3, { globalDefault: true }),
  ];
  expect(await specAfter(priority(readerOf(defaults)))).toMatchObject({
    priorityClassName: 'b',
    priority: 3,
  });
  const spec = await specAfter(priority(readerOf([])));
  expect([spec?.priorityClassName, spec?.priority, spec?.preemptionPolicy]).toEqual([
    undefined,
    0,
    'PreemptLowerPriority',
  ]);
});

test.each([
  [{ priorityClassName: 'none' }, 'pods "p" is forbidden: no PriorityClass with name none was found'],
  [
    { priorityClassName: 'high', priority: 5 },
    'pods "p" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 100 from the given PriorityClass name',
  ],
  [{ priorityClassName: 'high', priority: 100 }, 'ok'],
])('a pod with %j: %s', async (spec, expected) => {
  const plugin = priority(readerOf([priorityClass('high', 100)]));
  expect(await verdict(plugin, wish({ object: pod(spec) }))).toBe(expected);
});

test('an update by a client that knows no priority keeps it', async () => {
  const object = pod();
  await verdict(
    priority(readerOf([])),
    wish({ operation: 'UPDATE', object, oldObject: pod({ priority: 9, preemptionPolicy: 'Never' }) }),
  );
  expect((object as V1Pod).spec).toMatchObject({ priority: 9, preemptionPolicy: 'Never' });
});

test('there is one default priority class', async () => {
  const plugin = priority(readerOf([priorityClass('first', 1, { globalDefault: true })]));
  const ask = (operation: 'CREATE' | 'UPDATE', name: string): Promise<string> =>
    verdict(
      plugin,
      wish({
        of: 'priorityclasses.scheduling.k8s.io',
        operation,
        object: priorityClass(name, 2, { globalDefault: true }),
      }),
    );
  expect([await ask('UPDATE', 'first'), await ask('CREATE', 'second')]).toEqual([
    'ok',
    'priorityclasses.scheduling.k8s.io "second" is forbidden: PriorityClass first is already marked as default. Only one default can exist',
  ]);
});

test('a pod tolerates a lost node for five minutes, unless it says otherwise', async () => {
  const plugin = defaultTolerationSeconds({ unreachableSeconds: 60 });
  const notReady = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' };
  const unreachable = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' };
  expect((await specAfter(plugin))?.tolerations).toEqual([
    { ...notReady, tolerationSeconds: 300 },
    { ...unreachable, tolerationSeconds: 60 },
  ]);
  const all = [{ operator: 'Exists' }];
  expect((await specAfter(plugin, { tolerations: all }))?.tolerations).toEqual(all);
});

test('a new node is tainted not-ready once', async () => {
  const node: KubernetesObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } };
  const ask = (): Promise<string> => verdict(taintNodesByCondition(), wish({ of: 'nodes', object: node }));
  await ask();
  await ask();
  expect(node['spec']).toEqual({ taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] });
});

test('images are pulled always; an update without a new image is let be', async () => {
  const plugin = alwaysPullImages();
  expect((await specAfter(plugin))?.containers[0]?.imagePullPolicy).toBe('Always');
  const object = pod({ containers: [{ name: 'c', image: 'i', imagePullPolicy: 'Never' }] });
  expect(await verdict(plugin, wish({ operation: 'UPDATE', object, oldObject: pod() }))).toBe('ok');
  expect(() => void plugin.validate!(wish({ object }))).toThrow(
    'pods "p" is forbidden: spec.containers[0].imagePullPolicy: Unsupported value: "Never": supported values: "Always"',
  );
});

test('pods that request special hardware tolerate nodes reserved for it', async () => {
  const containers = [{ name: 'c', resources: { requests: { 'x.io/gpu': '1', cpu: '1' } } }];
  expect((await specAfter(extendedResourceToleration(), { containers }))?.tolerations).toEqual([
    { key: 'x.io/gpu', operator: 'Exists', effect: 'NoSchedule' },
  ]);
});

test('a toleration that another includes is dropped', () => {
  const narrow = { key: 'a', operator: 'Equal', value: 'x', effect: 'NoSchedule' };
  const wide = { key: 'a', operator: 'Exists' };
  const other = { key: 'b', operator: 'Exists' };
  expect(mergeTolerations([narrow, other], [wide, other])).toEqual([other, wide]);
});

const sandbox: KubernetesObject = {
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name: 'sandbox' },
  handler: 'h',
  overhead: { podFixed: { cpu: '100m' } },
  scheduling: { nodeSelector: { runtime: 'sandbox' } },
};

test('a pod carries the overhead of its runtime class and goes to its nodes', async () => {
  const plugin = runtimeClass(readerOf([sandbox]));
  expect(await specAfter(plugin, { runtimeClassName: 'sandbox', nodeSelector: { a: 'b' } })).toMatchObject({
    overhead: { cpu: '100m' },
    nodeSelector: { a: 'b', runtime: 'sandbox' },
  });
});

test.each([
  [{ runtimeClassName: 'none' }, 'pods "p" is forbidden: pod rejected: RuntimeClass "none" not found'],
  [
    { overhead: { cpu: '1' } },
    'pods "p" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
  ],
  [
    { runtimeClassName: 'sandbox', overhead: { cpu: '1' } },
    "pods \"p\" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
  ],
  [{ runtimeClassName: 'sandbox', overhead: { cpu: '0.1' } }, 'ok'],
  [
    { runtimeClassName: 'sandbox', nodeSelector: { runtime: 'x' } },
    'pods "p" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[runtime] = sandbox; pod.spec.nodeSelector[runtime] = x',
  ],
])('a pod with %j and a runtime class: %s', async (spec, expected) => {
  expect(await verdict(runtimeClass(readerOf([sandbox])), wish({ object: pod(spec) }))).toBe(expected);
});
