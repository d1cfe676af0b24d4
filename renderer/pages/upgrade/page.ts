import { definePage } from '../page.ts';

export const page = definePage({
  id: 'upgrade',
  path: '/upgrade',
  group: 'operate',
  order: 20,
  icon: 'upgrade',
  title: 'upgrade.title',
  goKey: 'U',
  component: () => import('./UpgradePage.vue'),
});
