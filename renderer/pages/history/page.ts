import { definePage } from '../page.ts';
import { t } from '../../locales/i18n.ts';
import { useClusterStore } from '../../stores/clusters.ts';

export const page = definePage({
  id: 'history',
  path: '/history',
  group: 'operate',
  order: 12,
  icon: 'pending',
  title: 'history.title',
  component: () => import('./HistoryPage.vue'),
  palette() {
    const current = useClusterStore().current;
    if (!current) return [];
    return [
      {
        id: 'history-compare',
        group: 'actions',
        icon: 'pending',
        title: t('history.go.compare'),
        hint: current.name,
        keywords: t('history.keywords'),
        run: () => (window.location.hash = '#/history?view=compare'),
      },
    ];
  },
});
