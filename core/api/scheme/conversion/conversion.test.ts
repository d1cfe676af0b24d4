import { expect, test } from 'vitest';
import { decodeObject } from '../../schema/decode.ts';
import { structOfKind } from '../../schema/models.ts';
import { registryOf } from '../registry.ts';
import { convertObject, eventFieldLabel } from './convert-object.ts';

const HPA_V1 = { group: 'autoscaling', version: 'v1', kind: 'HorizontalPodAutoscaler' };
const HPA_V2 = { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' };
const CORE_EVENT = { group: '', version: 'v1', kind: 'Event' };
const EVENTS_EVENT = { group: 'events.k8s.io', version: 'v1', kind: 'Event' };

const FULL = {
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'a', annotations: { mine: 'x' } },
  spec: {
    scaleTargetRef: { kind: 'Deployment', name: 'd' },
    minReplicas: 1,
    maxReplicas: 3,
    metrics: [
      {
        type: 'Resource',
        resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } },
      },
      {
        type: 'Pods',
        pods: { metric: { name: 'rps' }, target: { type: 'AverageValue', averageValue: '10' } },
      },
      {
        type: 'Object',
        object: {
          describedObject: { kind: 'Service', name: 's' },
          metric: { name: 'hits', selector: { matchLabels: { a: 'b' } } },
          target: { type: 'Value', value: '5' },
        },
      },
      {
        type: 'External',
        external: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue: '2' } },
      },
      {
        type: 'ContainerResource',
        containerResource: {
          name: 'cpu',
          container: 'c',
          target: { type: 'Utilization', averageUtilization: 70 },
        },
      },
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
      },
    ],
    behavior: { scaleDown: { selectPolicy: 'Min' } },
  },
  status: {
    currentReplicas: 1,
    desiredReplicas: 1,
    currentMetrics: [
      {
        type: 'Resource',
        resource: { name: 'cpu', current: { averageUtilization: 40, averageValue: '40m' } },
      },
    ],
    conditions: [{ type: 'AbleToScale', status: 'True' }],
  },
};

test('an autoscaler comes back from v1 with all that v2 said', () => {
  const v1 = convertObject(FULL, HPA_V2, HPA_V1);
  expect(v1).toMatchObject({
    apiVersion: 'autoscaling/v1',
    spec: { targetCPUUtilizationPercentage: 50, minReplicas: 1, maxReplicas: 3 },
    status: { currentCPUUtilizationPercentage: 40, currentReplicas: 1, desiredReplicas: 1 },
  });
  expect(decodeObject(structOfKind(HPA_V1)!, v1).strictErrors).toEqual([]);
  expect(convertObject(v1, HPA_V1, HPA_V2)).toEqual(FULL);
});

test('an autoscaler that names no target aims at 80 percent of its CPU', () => {
  const v1 = {
    apiVersion: 'autoscaling/v1',
    kind: 'HorizontalPodAutoscaler',
    metadata: {},
    spec: { maxReplicas: 3 },
  };
  expect(convertObject(v1, HPA_V1, HPA_V2)['spec']).toEqual({
    maxReplicas: 3,
    metrics: [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
      },
    ],
  });
});

test('an event is one thing under two names', () => {
  const event = {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: 'e' },
    regarding: { kind: 'Pod', name: 'p' },
    note: 'hi',
    reason: 'R',
    reportingController: 'c',
    deprecatedCount: 2,
  };
  const core = convertObject(event, EVENTS_EVENT, CORE_EVENT);
  expect(core).toEqual({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'e' },
    involvedObject: { kind: 'Pod', name: 'p' },
    message: 'hi',
    reason: 'R',
    reportingComponent: 'c',
    count: 2,
  });
  expect(convertObject(core, CORE_EVENT, EVENTS_EVENT)).toEqual(event);
  expect(['regarding.name', 'reportingController', 'type'].map(eventFieldLabel)).toEqual([
    'involvedObject.name',
    'reportingComponent',
    'type',
  ]);
});

test('kinds stored and served in different versions are converted in both directions', () => {
  const object = { metadata: {} };
  for (const { storage, group, version, kind } of registryOf(36).resources) {
    if (!storage) continue;
    const served = { group, version, kind };
    expect(() => convertObject(object, served, storage.gvk)).not.toThrow();
    expect(() => convertObject(object, storage.gvk, served)).not.toThrow();
  }
});
