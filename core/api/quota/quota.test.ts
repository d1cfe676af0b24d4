import { expect, test } from 'vitest';
import type { KubernetesObject } from '../meta/index.ts';
import type { V1Pod, V1ResourceQuota } from '../schema/generated/types.ts';
import { evaluatorOf } from './evaluators.ts';
import { isBestEffort, podLimits, podRequests } from './pod-resources.ts';
import { resourceListToWire } from './resource-list.ts';
import { usageFor } from './usage.ts';

const NOW_MS = Date.UTC(2026, 0, 1);

const usageOf = (resource: string, object: object): Record<string, string> => {
  const dot = resource.indexOf('.');
  const name =
    dot < 0 ? { group: '', resource } : { group: resource.slice(dot + 1), resource: resource.slice(0, dot) };
  return resourceListToWire(evaluatorOf(name)!.usage(object as KubernetesObject, NOW_MS));
};

const pod = (spec: object, rest: object = {}): V1Pod => ({ spec, ...rest }) as V1Pod;
const container = (name: string, requests: object, limits: object = {}, rest: object = {}): object => ({
  name,
  resources: { requests, limits },
  ...rest,
});

test('a pod needs the larger of its containers together and its init containers in turn, with sidecars', () => {
  const subject = pod({
    containers: [container('a', { cpu: '1' }, { cpu: '2' }), container('b', { cpu: '500m', memory: '1Gi' })],
    initContainers: [
      container('first', { cpu: '3' }),
      container('sidecar', { cpu: '1' }, {}, { restartPolicy: 'Always' }),
      container('second', { cpu: '1800m' }),
    ],
    overhead: { cpu: '100m', memory: '10Mi' },
  });
  expect(resourceListToWire(podRequests(subject, { useStatus: false }))).toEqual({
    cpu: '3100m',
    memory: '1034Mi',
  });
  expect(resourceListToWire(podLimits(subject, { useStatus: false }))).toEqual({ cpu: '2100m' });
});

test('resources of the pod override those of its containers', () => {
  const subject = pod({
    containers: [container('a', { cpu: '1', memory: '1Gi' })],
    resources: { requests: { cpu: '4' } },
  });
  expect(resourceListToWire(podRequests(subject, { useStatus: false }))).toEqual({ cpu: '4', memory: '1Gi' });
});

test('during a resize the larger of wish and reality is charged, and an infeasible wish is not', () => {
  const resizing = (conditions: object[]): V1Pod =>
    pod(
      { containers: [container('a', { cpu: '4' })] },
      {
        status: {
          conditions,
          containerStatuses: [
            { name: 'a', allocatedResources: { cpu: '1' }, resources: { requests: { cpu: '2' } } },
          ],
        },
      },
    );
  const cpuOf = (subject: V1Pod): string | undefined =>
    podRequests(subject, { useStatus: true }).get('cpu')?.toString();
  expect([
    cpuOf(resizing([])),
    cpuOf(resizing([{ type: 'PodResizePending', reason: 'Infeasible' }])),
  ]).toEqual(['4', '2']);
});

test.each([
  [{ containers: [container('a', {})] }, true],
  [{ containers: [container('a', { 'x.io/gpu': '1' })] }, true],
  [{ containers: [container('a', { cpu: '0' })] }, true],
  [{ containers: [container('a', {}, { memory: '1' })] }, false],
  [{ containers: [container('a', {})], initContainers: [container('b', { cpu: '1' })] }, false],
])('%j is best effort: %s', (spec, expected) => {
  expect(isBestEffort(pod(spec))).toBe(expected);
});

test('a pod is charged by all of its names, an ended one by its count alone', () => {
  const spec = {
    containers: [
      container('a', { cpu: '1', memory: '1Gi', 'hugepages-2Mi': '4Mi', 'x.io/gpu': '2' }, { cpu: '2' }),
    ],
  };
  expect(usageOf('pods', pod(spec))).toEqual({
    'count/pods': '1',
    cpu: '1',
    'hugepages-2Mi': '4Mi',
    'limits.cpu': '2',
    memory: '1Gi',
    pods: '1',
    'requests.cpu': '1',
    'requests.hugepages-2Mi': '4Mi',
    'requests.memory': '1Gi',
    'requests.x.io/gpu': '2',
  });
  expect(usageOf('pods', pod(spec, { status: { phase: 'Succeeded' } }))).toEqual({ 'count/pods': '1' });
  const overdue = { deletionTimestamp: '2025-12-31T23:00:00Z', deletionGracePeriodSeconds: 30 };
  expect(usageOf('pods', pod(spec, { metadata: overdue }))).toEqual({ 'count/pods': '1' });
});

test.each([
  [{ type: 'ClusterIP', ports: [{}, {}] }, '0', '0'],
  [{ type: 'NodePort', ports: [{}, {}] }, '2', '0'],
  [{ type: 'LoadBalancer', ports: [{}, {}] }, '2', '1'],
  [
    { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [{ nodePort: 30_000 }, {}] },
    '1',
    '1',
  ],
])('a service %j uses %s node ports and %s load balancers', (spec, nodePorts, balancers) => {
  expect(usageOf('services', { spec })).toEqual({
    'count/services': '1',
    services: '1',
    'services.nodeports': nodePorts,
    'services.loadbalancers': balancers,
  });
});

test('a claim is charged in whole bytes, also to its class, and by what it was given', () => {
  const claim = {
    spec: { storageClassName: 'gold', resources: { requests: { storage: '1500m' } } },
    status: {},
  };
  expect(usageOf('persistentvolumeclaims', claim)).toEqual({
    'count/persistentvolumeclaims': '1',
    persistentvolumeclaims: '1',
    'requests.storage': '2',
    'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
    'gold.storageclass.storage.k8s.io/requests.storage': '2',
  });
  const grown = { ...claim, status: { allocatedResources: { storage: '3Gi' } } };
  expect(usageOf('persistentvolumeclaims', grown)['requests.storage']).toBe('3Gi');
});

test('anything else is counted, some under an older name as well, and events not at all', () => {
  expect(usageOf('deployments.apps', {})).toEqual({ 'count/deployments.apps': '1' });
  expect(usageOf('secrets', {})).toEqual({ 'count/secrets': '1', secrets: '1' });
  expect(evaluatorOf({ group: '', resource: 'events' })).toBeUndefined();
});

test('devices are charged by class, and alternatives by the largest', () => {
  const requests = [
    { exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 2 } },
    {
      firstAvailable: [
        { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1 },
        { deviceClassName: 'gpu', allocationMode: 'All' },
      ],
    },
  ];
  expect(usageOf('resourceclaims.resource.k8s.io', { spec: { devices: { requests } } })).toEqual({
    'count/resourceclaims.resource.k8s.io': '1',
    'gpu.deviceclass.resource.k8s.io/devices': '34',
  });
});

test('the usage of a namespace counts what is in scope, and starts at zero', () => {
  const quota: V1ResourceQuota = {
    spec: {
      hard: { pods: '5', 'limits.cpu': '5', unknown: '1' },
      scopeSelector: {
        matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }],
      },
    },
  };
  const objects = ['high', 'low', 'high'].map(
    (priorityClassName) => pod({ priorityClassName, containers: [] }) as KubernetesObject,
  );
  const evaluator = evaluatorOf({ group: '', resource: 'pods' })!;
  expect(resourceListToWire(usageFor(quota, [{ evaluator, objects }], NOW_MS))).toEqual({
    'limits.cpu': '0',
    pods: '2',
  });
});

test.each([
  ['Terminating', { activeDeadlineSeconds: 5 }, true],
  ['NotTerminating', { activeDeadlineSeconds: 5 }, false],
  ['BestEffort', {}, true],
  ['NotBestEffort', {}, false],
  ['PriorityClass', { priorityClassName: 'x' }, true],
  ['PriorityClass', {}, false],
  [
    'CrossNamespacePodAffinity',
    {
      affinity: {
        podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ namespaces: ['x'] }] },
      },
    },
    true,
  ],
  ['VolumeAttributesClass', {}, false],
])('scope %s matches a pod with %j: %s', (scopeName, spec, expected) => {
  const evaluator = evaluatorOf({ group: '', resource: 'pods' })!;
  const object = pod({ containers: [], ...spec }) as KubernetesObject;
  expect(evaluator.matchesScope({ scopeName, operator: 'Exists' }, object)).toBe(expected);
});
