import type { ClusterEntry } from '../../../core/contract/index.ts';
import { definePage, type PaletteEntry } from '../page.ts';
import { t } from '../../locales/i18n.ts';
import { useClusterStore } from '../../stores/clusters.ts';
import { useOwnClusterStore } from '../../stores/own-clusters.ts';

/** Start what rests, stop what runs; while it changes there is nothing to do. */
const lifeEntry = (entry: ClusterEntry, own: ReturnType<typeof useOwnClusterStore>): PaletteEntry[] => {
  const phase = entry.local?.phase;
  const shared = { group: 'actions', hint: entry.local?.directory ?? '' } as const;
  if (phase === 'stopped' || phase === 'failed')
    return [
      {
        ...shared,
        id: `start-${entry.id}`,
        icon: 'play',
        title: t('own.start', { name: entry.name }),
        run: () => own.start(entry),
      },
    ];
  if (phase === 'ready' || phase === 'starting')
    return [
      {
        ...shared,
        id: `stop-${entry.id}`,
        icon: 'stopped',
        title: t('own.stop', { name: entry.name }),
        run: () => (own.stopping = entry),
      },
    ];
  return [];
};

export const page = definePage({
  id: 'clusters',
  path: '/clusters',
  group: 'home',
  order: 0,
  icon: 'cluster',
  title: 'clusters.title',
  goKey: 'C',
  standsAlone: true,
  component: () => import('./ClustersPage.vue'),
  palette() {
    const clusters = useClusterStore();
    const own = useOwnClusterStore();
    return [
      {
        id: 'create-cluster',
        group: 'actions',
        icon: 'plus',
        title: t('own.create'),
        keywords: t('own.create.keywords'),
        run: () => (own.isCreating = true),
      },
      ...clusters.clusters.flatMap((entry) => lifeEntry(entry, own)),
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
