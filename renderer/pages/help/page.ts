import { definePage } from '../../app/page.ts';

export const page = definePage({
  id: 'help',
  path: '/help',
  group: 'console',
  order: 20,
  icon: 'doc',
  title: 'help.title',
  goKey: 'H',
  standsAlone: true,
  component: () => import('./HelpPage.vue'),
});
