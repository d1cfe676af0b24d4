import { definePage, type PaletteEntry } from '../page.ts';
import { t } from '../../locales/i18n.ts';
import { useClusterStore } from '../../stores/clusters.ts';

export const page = definePage({
  id: 'scheduler',
  path: '/scheduler',
  group: 'control-plane',
  order: 50,
  icon: 'sched',
  title: 'scheduler.title',
  goKey: 'D',
  keys: [{ keys: ['↑', '↓'], text: 'shortcuts.rows' }],
  component: () => import('../xray/SchedulerPage.vue'),
  palette(): readonly PaletteEntry[] {
    const current = useClusterStore().current;
    if (!current) return [];
    return [
      {
        id: 'scheduler-what-if',
        group: 'places',
        icon: 'sched',
        title: t('scheduler.go.whatIf'),
        hint: current.name,
        keywords: t('scheduler.keywords'),
        run: () => (window.location.hash = '#/scheduler?view=what-if'),
      },
    ];
  },
});
