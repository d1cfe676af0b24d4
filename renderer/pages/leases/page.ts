import { definePage } from '../page.ts';
import { t } from '../../locales/i18n.ts';
import { useClusterStore } from '../../stores/clusters.ts';

export const page = definePage({
  id: 'leases',
  path: '/leases',
  group: 'control-plane',
  order: 20,
  icon: 'lease',
  title: 'leases.title',
  goKey: 'L',
  component: () => import('./LeasesPage.vue'),
  palette() {
    const current = useClusterStore().current;
    if (!current) return [];
    return [
      {
        id: 'leases-worst',
        group: 'places',
        icon: 'lease',
        title: t('leases.nodes.go'),
        hint: current.name,
        keywords: t('leases.keywords'),
        run: () => (window.location.hash = '#/leases?order=worst'),
      },
    ];
  },
});
