import { expect, test } from 'vitest';
import { aggregatedResources, legacyResources } from './remote-resources.ts';

const GV = { group: 'wardle.example.com', version: 'v1alpha1' };
const EXPECTED = {
  ...GV,
  kind: 'Flunder',
  listKind: '',
  plural: 'flunders',
  singular: 'flunder',
  namespaced: true,
  shortNames: ['fl'],
  categories: ['all'],
  verbs: ['get', 'list'],
  subresources: [
    {
      name: 'scale',
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      verbs: ['get'],
      connects: false,
    },
  ],
};

test('aggregated and legacy documents say the same', () => {
  const aggregated = {
    items: [
      {
        metadata: { name: GV.group },
        versions: [
          {
            version: 'v1alpha1',
            resources: [
              {
                resource: 'flunders',
                singularResource: 'flunder',
                scope: 'Namespaced',
                responseKind: { group: '', version: '', kind: 'Flunder' },
                shortNames: ['fl'],
                categories: ['all'],
                verbs: ['get', 'list'],
                subresources: [
                  {
                    subresource: 'scale',
                    responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
                    verbs: ['get'],
                  },
                ],
              },
            ],
          },
        ],
      },
    ],
  };
  const legacy = {
    resources: [
      {
        name: 'flunders',
        singularName: 'flunder',
        namespaced: true,
        kind: 'Flunder',
        shortNames: ['fl'],
        categories: ['all'],
        verbs: ['get', 'list'],
      },
      {
        name: 'flunders/scale',
        namespaced: true,
        group: 'autoscaling',
        version: 'v1',
        kind: 'Scale',
        verbs: ['get'],
      },
    ],
  };
  expect({
    aggregated: aggregatedResources(aggregated).get('wardle.example.com/v1alpha1'),
    legacy: legacyResources(legacy, GV),
  }).toEqual({ aggregated: [EXPECTED], legacy: [EXPECTED] });
});

test('documents of any shape are read without failing', () => {
  expect([
    aggregatedResources({ items: [null, 3, { versions: [{ resources: ['x'] }] }] }).size,
    legacyResources({ resources: [null, { name: 7 }] }, GV),
  ]).toEqual([1, []]);
});
