import { definePage, type PaletteEntry } from '../page.ts';
import { t } from '../../locales/i18n.ts';
import { useClusterStore } from '../../stores/clusters.ts';

export const page = definePage({
  id: 'admission',
  path: '/admission',
  group: 'control-plane',
  order: 45,
  icon: 'filter',
  title: 'admission.title',
  component: () => import('./AdmissionPage.vue'),
  palette(): readonly PaletteEntry[] {
    const current = useClusterStore().current;
    if (!current) return [];
    return [
      {
        id: 'admission-dry-run',
        group: 'places',
        icon: 'filter',
        title: t('admission.go.dryRun'),
        hint: current.name,
        keywords: t('admission.keywords'),
        run: () => (window.location.hash = '#/admission?view=dry-run'),
      },
    ];
  },
});
