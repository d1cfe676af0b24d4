import { definePage } from '../page.ts';

export const page = definePage({
  id: 'graph',
  path: '/graph',
  group: 'resources',
  order: 74,
  icon: 'graph',
  title: 'graph.title',
  keys: [
    { keys: ['←', '↑', '→', '↓'], text: 'graph.key.move' },
    { keys: ['Enter'], text: 'graph.key.open' },
    { keys: ['Esc'], text: 'graph.key.back' },
  ],
  component: () => import('./GraphPage.vue'),
});
