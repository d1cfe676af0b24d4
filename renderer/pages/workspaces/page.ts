import { t } from '../../locales/i18n.ts';
import { useWorkspaces } from '../../stores/workspaces.ts';
import { definePage } from '../page.ts';

/** A hash, as the router writes it: entries are made outside of any component. */
const go = (query: Readonly<Record<string, string>>): void => {
  window.location.hash = `#/workspaces?${new URLSearchParams(query)}`;
};

export const page = definePage({
  id: 'workspaces',
  path: '/workspaces',
  group: 'tools',
  order: 25,
  icon: 'screen',
  title: 'workspaces.title',
  component: () => import('./WorkspacesPage.vue'),
  standsAlone: true,
  palette: () => [
    ...useWorkspaces().saved.map(({ name }) => ({
      id: `workspace-${name}`,
      group: 'actions' as const,
      icon: 'screen' as const,
      title: t('workspaces.switch', { name }),
      keywords: t('workspaces.keywords'),
      // The page switches, so that a list that is open now is opened again with its columns.
      run: () => go({ open: name }),
    })),
    {
      id: 'workspace-save',
      group: 'actions',
      icon: 'plus',
      title: t('workspaces.save'),
      hint: t('workspaces.save.hint'),
      keywords: t('workspaces.keywords'),
      run: () => go({ from: window.location.hash.replace(/^#/, '') || '/' }),
    },
  ],
});
