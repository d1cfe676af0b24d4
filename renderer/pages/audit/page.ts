import { definePage, type PaletteEntry } from '../page.ts';
import { t } from '../../locales/i18n.ts';
import { useClusterStore } from '../../stores/clusters.ts';

export const page = definePage({
  id: 'audit',
  path: '/audit',
  group: 'control-plane',
  order: 45,
  icon: 'audit',
  title: 'audit.title',
  goKey: 'A',
  keys: [{ keys: ['↑', '↓'], text: 'shortcuts.rows' }],
  component: () => import('./AuditPage.vue'),
  palette(): readonly PaletteEntry[] {
    const current = useClusterStore().current;
    if (!current?.local) return [];
    return [
      {
        id: 'audit-denied',
        group: 'places',
        icon: 'audit',
        title: t('audit.go.denied'),
        hint: current.name,
        keywords: t('audit.keywords'),
        run: () => (window.location.hash = '#/audit?who=all&verb=any&denied=1'),
      },
    ];
  },
});
