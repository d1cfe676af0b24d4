import { definePage } from '../page.ts';
import { t } from '../../locales/i18n.ts';

export const page = definePage({
  id: 'editor',
  path: '/editor',
  group: 'tools',
  order: 10,
  icon: 'editor',
  title: 'editor.title',
  goKey: 'E',
  keys: [
    { keys: ['F5'], text: 'shortcuts.editor.dry' },
    { keys: ['Ctrl', 'Enter'], text: 'shortcuts.editor.apply' },
    { keys: ['F9'], text: 'shortcuts.editor.undo' },
    { keys: ['Ctrl', 'S'], text: 'shortcuts.editor.save' },
    { keys: ['Ctrl', 'Space'], text: 'shortcuts.editor.complete' },
    { keys: ['Ctrl', 'M'], text: 'shortcuts.editor.tab' },
    { keys: ['F6'], text: 'shortcuts.editor.part' },
  ],
  component: () => import('./EditorPage.vue'),
  palette: () => [
    {
      id: 'editor-new',
      group: 'actions',
      icon: 'doc',
      title: t('editor.new'),
      keywords: t('editor.new.keywords'),
      run: () => (window.location.hash = '#/editor?new=empty'),
    },
  ],
});
