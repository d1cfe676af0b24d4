import { definePage } from '../page.ts';
import { listKeys } from '../resources/list-keys.ts';
import { kindEntries } from '../resources/palette.ts';

export const page = definePage({
  id: 'storage',
  path: '/storage',
  group: 'resources',
  order: 30,
  icon: 'storage',
  title: 'category.storage',
  keys: listKeys,
  component: () => import('../resources/ResourcesPage.vue'),
  palette: () => kindEntries('storage'),
});
