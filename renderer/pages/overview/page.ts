import { definePage, type PaletteEntry } from '../page.ts';
import { t } from '../../locales/i18n.ts';
import { useActionStore } from '../../operations/action-store.ts';
import { actionIcon, actionTitle } from '../../operations/action-words.ts';
import { useClusterStore } from '../../stores/clusters.ts';
import { hostOffers } from './map/host-actions.ts';

export const page = definePage({
  id: 'overview',
  path: '/',
  group: 'home',
  order: -10,
  icon: 'overview',
  title: 'overview.title',
  goKey: 'O',
  component: () => import('./OverviewPage.vue'),
  palette() {
    const clusters = useClusterStore();
    const actions = useActionStore();
    const { current } = clusters;
    const { known } = actions;
    if (!current?.local || current.local.phase !== 'ready' || known?.cluster !== current.id) return [];
    return known.hosts.flatMap((host) =>
      hostOffers(host, undefined)
        .filter(({ why }) => why === undefined)
        .map(({ action }): PaletteEntry => ({
          id: `${action.kind}-${host.name}`,
          group: 'actions',
          icon: actionIcon(action),
          title: actionTitle(action),
          hint: current.name,
          keywords: `${t('overview.palette.keywords')} ${host.address}`,
          run: () => actions.ask(current.id, action),
        })),
    );
  },
});
