import { definePage } from '../page.ts';
import { t } from '../../locales/i18n.ts';

export const page = definePage({
  id: 'drills',
  path: '/drills',
  group: 'operate',
  order: 29,
  icon: 'drill',
  title: 'drills.title',
  standsAlone: true,
  component: () => import('./DrillsPage.vue'),
  palette: () => [
    {
      id: 'drills-start',
      group: 'actions',
      icon: 'drill',
      title: t('drills.palette'),
      keywords: t('drills.keywords'),
      run: () => (window.location.hash = '#/drills'),
    },
  ],
});
