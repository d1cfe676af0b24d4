import { definePage } from '../page.ts';
import { t } from '../../locales/i18n.ts';
import { useClusterStore } from '../../stores/clusters.ts';

export const page = definePage({
  id: 'certificates',
  path: '/certificates',
  group: 'control-plane',
  order: 30,
  icon: 'cert',
  title: 'certs.title',
  goKey: 'X',
  keys: [{ keys: ['↑', '↓'], text: 'shortcuts.rows' }],
  component: () => import('./CertificatesPage.vue'),
  palette() {
    const current = useClusterStore().current;
    if (!current?.local) return [];
    return [
      {
        id: 'certificates-renew-all',
        group: 'actions',
        icon: 'cert',
        title: t('action.certificates.renew.all'),
        hint: current.name,
        keywords: t('certs.keywords'),
        run: () => (window.location.hash = '#/certificates?act=renew'),
      },
    ];
  },
});
