import { definePage } from '../page.ts';

export const page = definePage({
  id: 'controllers',
  path: '/controllers',
  group: 'control-plane',
  order: 75,
  icon: 'refresh',
  title: 'controllers.title',
  component: () => import('./ControllersPage.vue'),
});
