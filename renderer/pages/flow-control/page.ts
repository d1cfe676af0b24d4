import { definePage } from '../page.ts';

export const page = definePage({
  id: 'flow-control',
  path: '/flow-control',
  group: 'control-plane',
  order: 48,
  icon: 'bal',
  title: 'flow.title',
  goKey: 'F',
  component: () => import('./FlowControlPage.vue'),
});
