import type { PublishedGroupVersion } from '../catalog.ts';

type PublishedResource = PublishedGroupVersion['resources'][number];

/** A custom kind as its server publishes it. */
export const widgetsWith = (
  resource: Partial<PublishedResource>,
  rest: Partial<PublishedGroupVersion> = {},
): PublishedGroupVersion => ({
  group: 'example.com',
  version: 'v1',
  groupPriority: 1000,
  versionPriority: 100,
  resources: [
    {
      group: 'example.com',
      version: 'v1',
      kind: 'Widget',
      listKind: 'WidgetList',
      plural: 'widgets',
      singular: 'widget',
      namespaced: true,
      shortNames: [],
      categories: [],
      verbs: ['get', 'list'],
      subresources: [],
      ...resource,
    },
  ],
  ...rest,
});
