import { expect, test } from 'vitest';
import { compareKeys } from './compare-snapshot.ts';
import { placeOfKey } from '../backup/registry-key.ts';

test.each([
  ['/registry/pods/web/a', 'pods', 'web/a'],
  ['/registry/deployments/web/a', 'apps/deployments', 'web/a'],
  ['/registry/services/specs/default/kubernetes', 'services', 'default/kubernetes'],
  ['/registry/example.com/widgets/default/one', 'example.com/widgets', 'default/one'],
  ['/registry/ranges/serviceips', 'ranges', 'serviceips'],
])('%s is one of %s', (key, resource, name) => {
  expect(placeOfKey(key)).toEqual({ resource, name });
});

test('a restore reports recreated and deleted objects by resource', () => {
  const now = new Set(['/registry/pods/web/a', '/registry/pods/web/b', '/registry/secrets/web/s']);
  const then = new Set(['/registry/pods/web/a', '/registry/pods/web/c']);
  expect(compareKeys(now, then)).toEqual([
    { resource: 'pods', now: 2, inSnapshot: 2, comesBack: ['web/c'], goes: ['web/b'] },
    { resource: 'secrets', now: 1, inSnapshot: 0, comesBack: [], goes: ['web/s'] },
  ]);
});
