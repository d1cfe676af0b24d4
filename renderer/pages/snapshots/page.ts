import { definePage } from '../page.ts';
import { t } from '../../locales/i18n.ts';
import { useClusterStore } from '../../stores/clusters.ts';

export const page = definePage({
  id: 'snapshots',
  path: '/snapshots',
  group: 'operate',
  order: 10,
  icon: 'snapshot',
  title: 'snapshots.title',
  goKey: 'B',
  component: () => import('./SnapshotsPage.vue'),
  palette() {
    const current = useClusterStore().current;
    if (!current?.local) return [];
    return [
      {
        id: 'snapshots-save',
        group: 'actions',
        icon: 'snapshot',
        title: t('action.snapshot.save'),
        hint: current.name,
        keywords: t('snapshots.keywords'),
        run: () => (window.location.hash = '#/snapshots?act=save'),
      },
    ];
  },
});
