import { definePage } from '../page.ts';

export const page = definePage({
  id: 'settings',
  path: '/settings',
  group: 'console',
  order: 10,
  icon: 'settings',
  title: 'settings.title',
  goKey: 'S',
  standsAlone: true,
  component: () => import('./SettingsPage.vue'),
});
