import type { PageKey } from '../page.ts';

/** Keys of every page that lists objects. */
export const listKeys: readonly PageKey[] = [
  { keys: ['J', 'K'], text: 'shortcuts.list.move' },
  { keys: ['PgUp', 'PgDn'], text: 'shortcuts.list.page' },
  { keys: ['Home', 'End'], text: 'shortcuts.list.ends' },
  { keys: ['Shift', '↓'], text: 'shortcuts.list.extend' },
  { keys: ['Space'], text: 'shortcuts.list.select' },
  { keys: ['Ctrl', 'A'], text: 'shortcuts.list.all' },
  { keys: ['Enter'], text: 'shortcuts.list.open' },
  { keys: ['L'], text: 'shortcuts.list.logs' },
  { keys: ['S'], text: 'shortcuts.list.terminal' },
  { keys: ['Y'], text: 'shortcuts.list.yaml' },
  { keys: ['E'], text: 'shortcuts.list.edit' },
  { keys: ['Shift', 'F10'], text: 'shortcuts.list.menu' },
  { keys: ['Delete'], text: 'shortcuts.list.delete' },
  { keys: ['Esc'], text: 'shortcuts.list.clear' },
];
