import { definePage, type PaletteEntry } from '../page.ts';
import { t } from '../../locales/i18n.ts';
import { useClusterStore } from '../../stores/clusters.ts';
import { sections } from './sections.ts';

export const page = definePage({
  id: 'metrics',
  path: '/metrics',
  group: 'control-plane',
  order: 60,
  icon: 'metrics',
  title: 'metrics.title',
  goKey: 'M',
  component: () => import('./MetricsPage.vue'),
  palette() {
    const current = useClusterStore().current;
    if (!current) return [];
    return sections.map(({ id }): PaletteEntry => ({
      id: `metrics-${id}`,
      group: 'places',
      icon: 'metrics',
      title: t('metrics.of', { section: t(`metrics.section.${id}`) }),
      hint: current.name,
      keywords: t('metrics.keywords'),
      run: () => (window.location.hash = `#/metrics?section=${id}`),
    }));
  },
});
