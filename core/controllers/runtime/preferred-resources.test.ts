import { expect, test } from 'vitest';
import type { DiscoveredResource } from '../../client/index.ts';
import { preferredResources } from './preferred-resources.ts';

const resource = (version: string, plural: string, isPreferred: boolean): DiscoveredResource => ({
  group: 'x.io',
  version,
  plural,
  kind: plural,
  namespaced: true,
  singular: plural,
  shortNames: [],
  categories: [],
  verbs: [],
  subresources: [],
  isPreferred,
});

test('a resource that the preferred version of its group lacks is not lost', () => {
  const resources = [
    resource('v1beta1', 'old', false),
    resource('v1beta1', 'both', false),
    resource('v1', 'both', true),
  ];
  const chosen = preferredResources({ resources, failed: new Map() });
  expect(chosen.map(({ version, plural }) => `${version}/${plural}`).sort()).toEqual([
    'v1/both',
    'v1beta1/old',
  ]);
});
