import { definePage } from '../page.ts';
import { listKeys } from '../resources/list-keys.ts';
import { kindEntries } from '../resources/palette.ts';

export const page = definePage({
  id: 'config',
  path: '/config',
  group: 'resources',
  order: 40,
  icon: 'config',
  title: 'category.config',
  keys: listKeys,
  component: () => import('../resources/ResourcesPage.vue'),
  palette: () => kindEntries('config'),
});
