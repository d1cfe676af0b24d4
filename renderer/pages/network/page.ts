import { definePage } from '../page.ts';
import { listKeys } from '../resources/list-keys.ts';
import { kindEntries } from '../resources/palette.ts';

export const page = definePage({
  id: 'network',
  path: '/network',
  group: 'resources',
  order: 20,
  icon: 'network',
  title: 'category.network',
  goKey: 'N',
  keys: listKeys,
  component: () => import('../resources/ResourcesPage.vue'),
  palette: () => kindEntries('network'),
});
