import { definePage } from '../page.ts';

export const page = definePage({
  id: 'timeline',
  path: '/timeline',
  group: 'operate',
  order: 5,
  icon: 'events',
  title: 'timelinePage.title',
  goKey: 'T',
  keys: [
    { keys: ['←', '→'], text: 'timelinePage.key.next' },
    { keys: ['Shift', '←', '→'], text: 'timelinePage.key.pan' },
    { keys: ['+', '−'], text: 'timelinePage.key.zoom' },
  ],
  component: () => import('./TimelinePage.vue'),
});
