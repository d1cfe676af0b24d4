import { definePage } from '../page.ts';

export const page = definePage({
  id: 'helm',
  path: '/helm',
  group: 'resources',
  order: 75,
  icon: 'helm',
  title: 'helm.title',
  component: () => import('./HelmPage.vue'),
});
