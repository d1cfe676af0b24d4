import { definePage } from '../page.ts';
import { listKeys } from '../resources/list-keys.ts';
import { kindEntries } from '../resources/palette.ts';

export const page = definePage({
  id: 'cluster',
  path: '/cluster',
  group: 'resources',
  order: 60,
  icon: 'cube',
  title: 'category.cluster',
  keys: listKeys,
  component: () => import('../resources/ResourcesPage.vue'),
  palette: () => kindEntries('cluster'),
});
