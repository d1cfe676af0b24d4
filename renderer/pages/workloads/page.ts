import { definePage } from '../page.ts';
import { listKeys } from '../resources/list-keys.ts';
import { kindEntries } from '../resources/palette.ts';

export const page = definePage({
  id: 'workloads',
  path: '/workloads',
  group: 'resources',
  order: 10,
  icon: 'workloads',
  title: 'category.workloads',
  goKey: 'W',
  keys: listKeys,
  component: () => import('../resources/ResourcesPage.vue'),
  palette: () => kindEntries('workloads'),
});
