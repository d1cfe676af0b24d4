import { definePage } from '../page.ts';

export const page = definePage({
  id: 'processes',
  path: '/processes',
  group: 'console',
  order: 0,
  icon: 'process',
  title: 'processes.title',
  goKey: 'P',
  standsAlone: true,
  component: () => import('./ProcessesPage.vue'),
});
