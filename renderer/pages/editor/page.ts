import { definePage } from '../../app/page.ts';

export const page = definePage({
  id: 'editor',
  path: '/editor',
  group: 'tools',
  order: 10,
  icon: 'editor',
  title: 'editor.title',
  goKey: 'E',
  component: () => import('./EditorPage.vue'),
});
