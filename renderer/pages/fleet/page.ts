import { definePage } from '../page.ts';

export const page = definePage({
  id: 'fleet',
  path: '/fleet',
  group: 'resources',
  order: 80,
  icon: 'fleet',
  title: 'fleet.title',
  component: () => import('./FleetPage.vue'),
});
