import { definePage } from '../page.ts';
import { t } from '../../locales/i18n.ts';
import { useClusterStore } from '../../stores/clusters.ts';

export const page = definePage({
  id: 'permissions',
  path: '/permissions',
  group: 'tools',
  order: 60,
  icon: 'access',
  title: 'permissions.title',
  goKey: 'K',
  component: () => import('./PermissionsPage.vue'),
  palette() {
    const current = useClusterStore().current;
    if (!current) return [];
    return [
      {
        id: 'permissions-secrets',
        group: 'places',
        icon: 'access',
        title: t('permissions.go.secrets'),
        hint: current.name,
        keywords: t('permissions.keywords'),
        run: () => (window.location.hash = '#/permissions?verb=get&resource=secrets'),
      },
    ];
  },
});
