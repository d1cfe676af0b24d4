import { definePage } from '../page.ts';

export const page = definePage({
  id: 'help',
  path: '/help',
  group: 'console',
  order: 20,
  icon: 'book',
  title: 'help.title',
  goKey: 'Z',
  standsAlone: true,
  component: () => import('./HelpPage.vue'),
});
