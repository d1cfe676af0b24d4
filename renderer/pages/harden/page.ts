import { definePage } from '../page.ts';
import { t } from '../../locales/i18n.ts';
import { useClusterStore } from '../../stores/clusters.ts';

export const page = definePage({
  id: 'harden',
  path: '/harden',
  group: 'operate',
  order: 35,
  icon: 'shield',
  title: 'harden.title',
  goKey: 'J',
  component: () => import('./HardenPage.vue'),
  palette() {
    const current = useClusterStore().current;
    if (!current?.local) return [];
    return [
      {
        id: 'harden-plan',
        group: 'actions',
        icon: 'shield',
        title: t('action.harden.apply'),
        hint: current.name,
        keywords: t('harden.keywords'),
        run: () => (window.location.hash = '#/harden'),
      },
    ];
  },
});
