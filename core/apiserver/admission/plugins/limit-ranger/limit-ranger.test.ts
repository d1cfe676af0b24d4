import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../../api/meta/index.ts';
import type { V1Pod } from '../../../../api/schema/index.ts';
import { readerOf, verdict, wish } from '../../testing/fixtures.ts';
import { limitRanger } from './limit-ranger.ts';

const range = (...limits: readonly object[]): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { namespace: 'ns', name: 'r' },
  spec: { limits },
});
const pod = (resources: object, rest: object = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ns', name: 'p' },
  spec: { containers: [{ name: 'c', resources }], ...rest },
});

test('containers get the defaults that they lack, and the pod says which', async () => {
  const plugin = limitRanger(
    readerOf([
      range({
        type: 'Container',
        default: { cpu: '1', memory: '1Gi' },
        defaultRequest: { cpu: '100m', memory: '100Mi' },
      }),
    ]),
  );
  const object = pod({ limits: { cpu: '2' } }, { initContainers: [{ name: 'i' }] });
  expect(await verdict(plugin, wish({ object }))).toBe('ok');
  const { spec, metadata } = object as V1Pod;
  expect(spec?.containers[0]?.resources).toEqual({
    limits: { cpu: '2', memory: '1Gi' },
    requests: { cpu: '100m', memory: '100Mi' },
  });
  expect(metadata?.annotations).toEqual({
    'kubernetes.io/limit-ranger':
      'LimitRanger plugin set: cpu, memory request for container c; memory limit for container c; cpu, memory request for init container i; cpu, memory limit for init container i',
  });
});

const FORBIDDEN = 'pods "p" is forbidden: ';

test.each([
  [
    { type: 'Container', min: { cpu: '1' } },
    {},
    'minimum cpu usage per Container is 1.  No request is specified',
  ],
  [
    { type: 'Container', min: { cpu: '1' } },
    { requests: { cpu: '500m' } },
    'minimum cpu usage per Container is 1, but request is 500m',
  ],
  [
    { type: 'Container', min: { cpu: '1' } },
    { requests: { cpu: '1' }, limits: { cpu: '900m' } },
    'minimum cpu usage per Container is 1, but limit is 900m',
  ],
  [
    { type: 'Container', max: { memory: '1Gi' } },
    { requests: { memory: '1Gi' } },
    'maximum memory usage per Container is 1Gi.  No limit is specified',
  ],
  [
    { type: 'Container', max: { memory: '1Gi' } },
    { limits: { memory: '2Gi' } },
    'maximum memory usage per Container is 1Gi, but limit is 2Gi',
  ],
  [
    { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
    { requests: { cpu: '1' }, limits: { cpu: '3' } },
    'cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000',
  ],
  [
    { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
    { limits: { cpu: '3' } },
    'cpu max limit to request ratio per Container is 2, but no request is specified or request is 0',
  ],
  [
    { type: 'Pod', max: { cpu: '1' }, min: { memory: '1Gi' } },
    { requests: { cpu: '2', memory: '1Mi' }, limits: { cpu: '2' } },
    '[minimum memory usage per Pod is 1Gi, but request is 1Mi, maximum cpu usage per Pod is 1, but limit is 2]',
  ],
])('%j and a container with %j: %s', async (item, resources, expected) => {
  const plugin = limitRanger(readerOf([range(item)]));
  expect(await verdict(plugin, wish({ object: pod(resources) }))).toBe(FORBIDDEN + expected);
});

test('a pod is limited as a whole', async () => {
  const plugin = limitRanger(readerOf([range({ type: 'Pod', max: { cpu: '3' } })]));
  const two = (cpu: string): object => ({
    containers: ['a', 'b'].map((name) => ({ name, resources: { requests: { cpu }, limits: { cpu } } })),
  });
  expect([
    await verdict(plugin, wish({ object: pod({}, two('1')) })),
    await verdict(plugin, wish({ object: pod({}, two('2')) })),
  ]).toEqual(['ok', `${FORBIDDEN}maximum cpu usage per Pod is 3, but limit is 4`]);
});

test('claims are limited by their requests', async () => {
  const plugin = limitRanger(
    readerOf([range({ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } })]),
  );
  const ask = (storage: string): Promise<string> =>
    verdict(
      plugin,
      wish({
        of: 'persistentvolumeclaims',
        object: {
          kind: 'PersistentVolumeClaim',
          metadata: { namespace: 'ns', name: 'c' },
          spec: { resources: { requests: { storage } } },
        },
      }),
    );
  const head = 'persistentvolumeclaims "c" is forbidden: ';
  expect([await ask('1Gi'), await ask('512Mi'), await ask('3Gi')]).toEqual([
    'ok',
    `${head}minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 512Mi`,
    `${head}maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi`,
  ]);
});

test('a resize is checked, an ordinary update and a pod that ends are not', async () => {
  const plugin = limitRanger(readerOf([range({ type: 'Container', max: { cpu: '1' } })]));
  const object = pod({ requests: { cpu: '2' }, limits: { cpu: '2' } });
  const ending = pod({});
  ending.metadata!.deletionTimestamp = '2026-01-01T00:00:00Z';
  const ask = (subresource: string, oldObject: KubernetesObject): Promise<string> =>
    verdict(plugin, wish({ operation: 'UPDATE', subresource, object, oldObject }));
  expect([await ask('resize', pod({})), await ask('', pod({})), await ask('resize', ending)]).toEqual([
    `${FORBIDDEN}maximum cpu usage per Container is 1, but limit is 2`,
    'ok',
    'ok',
  ]);
});
