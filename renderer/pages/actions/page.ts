import { definePage } from '../page.ts';

export const page = definePage({
  id: 'actions',
  path: '/actions',
  group: 'tools',
  order: 30,
  icon: 'restart',
  title: 'actions.title',
  component: () => import('./ActionsPage.vue'),
  standsAlone: true,
});
