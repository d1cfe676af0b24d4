import { definePage, type PaletteEntry } from '../../app/page.ts';
import { t } from '../../locales/i18n.ts';
import { useClusterStore } from '../../stores/clusters.ts';

export const page = definePage({
  id: 'clusters',
  path: '/clusters',
  group: 'home',
  order: 0,
  icon: 'cluster',
  title: 'clusters.title',
  goKey: 'C',
  component: () => import('./ClustersPage.vue'),
  palette() {
    const clusters = useClusterStore();
    return [
      {
        id: 'open-kubeconfig',
        group: 'actions',
        icon: 'folder',
        title: t('clusters.open'),
        hint: t('clusters.readOnly'),
        keywords: t('clusters.open.keywords'),
        run: () => clusters.openKubeconfig(),
      },
      ...clusters.clusters.map((entry): PaletteEntry => ({
        id: `cluster-${entry.id}`,
        group: 'objects',
        icon: 'cluster',
        title: t('clusters.use', { name: entry.name }),
        hint: entry.server,
        keywords: `${entry.server} ${entry.user}`,
        run: () => clusters.select(entry.id),
      })),
    ];
  },
});
