import { definePage } from '../page.ts';

export const page = definePage({
  id: 'forwards',
  path: '/forwards',
  group: 'tools',
  order: 25,
  icon: 'unplug',
  title: 'forwards.title',
  component: () => import('./ForwardsPage.vue'),
  standsAlone: true,
});
