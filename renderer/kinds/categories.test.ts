import { expect, test } from 'vitest';
import type { KubeResource } from '../../core/contract/index.ts';
import { browsable, customGroups } from './categories.ts';

const resource = (group: string, plural: string, verbs: readonly string[] = ['list']): KubeResource =>
  ({ group, version: 'v1', plural, kind: plural, verbs, isPreferred: true }) as unknown as KubeResource;

test('duplicate kinds and kinds that cannot be listed are not browsed', () => {
  const resources = [
    resource('', 'pods'),
    resource('', 'events'),
    resource('events.k8s.io', 'events'),
    resource('metrics.k8s.io', 'pods'),
    resource('authorization.k8s.io', 'subjectaccessreviews', ['create']),
  ];
  expect(browsable(resources).map(({ group, plural }) => `${plural}.${group}`)).toEqual(['pods.', 'events.']);
});

test('custom kinds are listed by their group', () => {
  const resources = [
    resource('b.example.com', 'widgets'),
    resource('apps', 'deployments'),
    resource('a.example.com', 'gadgets'),
    resource('b.example.com', 'things'),
  ];
  const groups = customGroups(resources).map(({ group, kinds }) => [
    group,
    kinds.map(({ plural }) => plural),
  ]);
  expect(groups).toEqual([
    ['a.example.com', ['gadgets']],
    ['b.example.com', ['things', 'widgets']],
  ]);
});
