import { definePage, type PaletteEntry } from '../page.ts';
import { t } from '../../locales/i18n.ts';
import { useClusterStore } from '../../stores/clusters.ts';

/** Actions that a palette entry asks the page for, in its address. */
const asked = ['move', 'add', 'defragment', 'compact'] as const;
const icons = { move: 'leader', add: 'plus', defragment: 'storage', compact: 'restart' } as const;

export const page = definePage({
  id: 'raft',
  path: '/raft',
  group: 'control-plane',
  order: 10,
  icon: 'raft',
  title: 'raft.title',
  goKey: 'R',
  keys: [
    { keys: ['M'], text: 'raft.act.move' },
    { keys: ['A'], text: 'raft.act.add' },
    { keys: ['D'], text: 'raft.act.defragment' },
    { keys: ['C'], text: 'raft.act.compact' },
  ],
  component: () => import('./RaftPage.vue'),
  palette() {
    const current = useClusterStore().current;
    if (!current?.local) return [];
    return asked.map((act): PaletteEntry => ({
      id: `raft-${act}`,
      group: 'actions',
      icon: icons[act],
      title: t(`raft.act.${act}`),
      hint: current.name,
      keywords: t('raft.act.keywords'),
      run: () => (window.location.hash = `#/raft?act=${act}`),
    }));
  },
});
