import { definePage, type PaletteEntry } from '../page.ts';
import { t } from '../../locales/i18n.ts';
import { useClusterStore } from '../../stores/clusters.ts';

export const page = definePage({
  id: 'events',
  path: '/events',
  group: 'tools',
  order: 20,
  icon: 'events',
  title: 'eventsPage.title',
  goKey: 'V',
  component: () => import('./EventsPage.vue'),
  palette(): readonly PaletteEntry[] {
    const current = useClusterStore().current;
    if (!current) return [];
    return [
      {
        id: 'events-warnings',
        group: 'places',
        icon: 'events',
        title: t('eventsPage.go.warnings'),
        hint: current.name,
        keywords: t('eventsPage.keywords'),
        run: () => (window.location.hash = '#/events?type=Warning'),
      },
    ];
  },
});
