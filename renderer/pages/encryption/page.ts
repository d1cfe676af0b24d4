import { definePage } from '../page.ts';
import { t } from '../../locales/i18n.ts';
import { useClusterStore } from '../../stores/clusters.ts';

export const page = definePage({
  id: 'encryption',
  path: '/encryption',
  group: 'operate',
  order: 40,
  icon: 'lock',
  title: 'encryption.title',
  goKey: 'Y',
  component: () => import('./EncryptionPage.vue'),
  palette() {
    const current = useClusterStore().current;
    if (!current?.local) return [];
    return [
      {
        id: 'encryption-rotate',
        group: 'actions',
        icon: 'lock',
        title: t('action.encryption.rotate'),
        hint: current.name,
        keywords: t('encryption.keywords'),
        run: () => (window.location.hash = '#/encryption?act=rotate'),
      },
    ];
  },
});
