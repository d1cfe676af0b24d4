import { expect, test } from 'vitest';
import { createKindFinder } from './kind-finder.ts';

const DEFINITION = {
  metadata: { name: 'limits.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Limit', plural: 'limits' },
    versions: [
      { name: 'v1', served: true },
      { name: 'v1alpha1', served: false },
    ],
  },
};

test('kinds are found where they are served, those of custom resources too', async () => {
  const find = createKindFinder(36, { list: () => Promise.resolve([DEFINITION]) });
  const found = await Promise.all(
    [
      { group: 'apps', version: 'v1', kind: 'Deployment' },
      { group: 'authorization.k8s.io', version: 'v1', kind: 'SubjectAccessReview' },
      { group: 'example.com', version: 'v1', kind: 'Limit' },
      { group: 'example.com', version: 'v1alpha1', kind: 'Limit' },
    ].map(find),
  );
  expect(found).toEqual([
    {
      group: 'apps',
      version: 'v1',
      resource: 'deployments',
      namespaced: true,
      isStored: true,
      isCustom: false,
    },
    {
      group: 'authorization.k8s.io',
      version: 'v1',
      resource: 'subjectaccessreviews',
      namespaced: false,
      isStored: false,
      isCustom: false,
    },
    {
      group: 'example.com',
      version: 'v1',
      resource: 'limits',
      namespaced: true,
      isStored: true,
      isCustom: true,
    },
    undefined,
  ]);
});
