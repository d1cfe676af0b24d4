import { definePage } from '../page.ts';

export const page = definePage({
  id: 'checklist',
  path: '/checklist',
  group: 'operate',
  order: 30,
  icon: 'checklist',
  title: 'checklist.title',
  goKey: 'H',
  component: () => import('./ChecklistPage.vue'),
});
