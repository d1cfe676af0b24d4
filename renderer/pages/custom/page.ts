import { definePage } from '../page.ts';
import { listKeys } from '../resources/list-keys.ts';
import { kindEntries } from '../resources/palette.ts';

export const page = definePage({
  id: 'custom',
  path: '/custom',
  group: 'resources',
  order: 70,
  icon: 'custom',
  title: 'category.custom',
  keys: listKeys,
  component: () => import('../resources/ResourcesPage.vue'),
  palette: () => kindEntries('custom'),
});
