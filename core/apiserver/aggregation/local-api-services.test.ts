import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta/index.ts';
import { localApiServices, registrationStep } from './local-api-services.ts';

const local = (version: string, group: string, isCustom = false) => ({
  group,
  version,
  groupPriority: 17_500,
  isCustom,
});

test('a built-in version is registered on start with its priorities, a custom one for as long as it is served', () => {
  const wanted = localApiServices([
    local('v2', 'autoscaling'),
    local('v1', ''),
    local('v1', 'stable.example.com', true),
    local('v1', 'apiregistration.k8s.io'),
  ]);
  expect(
    [...wanted].map(([name, { metadata, spec }]) => [name, Object.values(metadata?.labels ?? {}), spec]),
  ).toEqual([
    [
      'v2.autoscaling',
      ['onstart'],
      { group: 'autoscaling', version: 'v2', groupPriorityMinimum: 17_500, versionPriority: 30 },
    ],
    ['v1.', ['onstart'], { version: 'v1', groupPriorityMinimum: 17_500, versionPriority: 1 }],
    [
      'v1.stable.example.com',
      ['true'],
      { group: 'stable.example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 },
    ],
  ]);
});

const service = (label: string | undefined, priority = 100): KubernetesObject => ({
  metadata: {
    name: 'v1.example.com',
    ...(label !== undefined && { labels: { 'kube-aggregator.kubernetes.io/automanaged': label } }),
  },
  spec: { group: 'example.com', version: 'v1', groupPriorityMinimum: priority, versionPriority: 100 },
});
const fresh = { hasSynced: false, wasThereAtStart: true };

test.each([
  ['nothing is wanted and nothing is there', undefined, undefined, fresh, 'none'],
  ['it is missing', service('onstart'), undefined, fresh, 'create'],
  ['it was deleted after the start', service('onstart'), undefined, { ...fresh, hasSynced: true }, 'none'],
  ['a custom one was deleted', service('true'), undefined, { ...fresh, hasSynced: true }, 'create'],
  ['somebody else made it', service('onstart', 2), service(undefined), fresh, 'none'],
  ['it has other priorities', service('onstart', 2), service('onstart'), fresh, 'update'],
  ['it is as wanted', service('onstart'), service('onstart'), fresh, 'none'],
  ['a custom one is served no more', undefined, service('true'), { ...fresh, hasSynced: true }, 'delete'],
  ['an old release served it', undefined, service('onstart'), fresh, 'delete'],
  [
    'a newer replica registered it after this start',
    undefined,
    service('onstart'),
    { hasSynced: false, wasThereAtStart: false },
    'none',
  ],
] as const)('when %s', (_when, desired, current, rest, step) => {
  expect(registrationStep({ desired, current, ...rest })).toBe(step);
});
