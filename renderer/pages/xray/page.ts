import { definePage, type PaletteEntry } from '../page.ts';
import { t } from '../../locales/i18n.ts';
import { useClusterStore } from '../../stores/clusters.ts';

export const page = definePage({
  id: 'requests',
  path: '/requests',
  group: 'control-plane',
  order: 40,
  icon: 'request',
  title: 'requests.title',
  goKey: 'Q',
  keys: [{ keys: ['↑', '↓'], text: 'shortcuts.rows' }],
  component: () => import('./RequestsPage.vue'),
  palette(): readonly PaletteEntry[] {
    const current = useClusterStore().current;
    if (!current) return [];
    return [
      {
        id: 'requests-problems',
        group: 'places',
        icon: 'request',
        title: t('requests.go.problems'),
        hint: current.name,
        keywords: t('requests.keywords'),
        run: () => (window.location.hash = '#/requests?show=problems'),
      },
    ];
  },
});
