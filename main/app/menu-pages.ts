import type { MenuPage } from './menu-template.ts';

/** The pages of the Go menu, as the console's navigation orders them. */
export const MENU_PAGES: readonly MenuPage[] = [
  { label: 'Clusters', path: '/clusters' },
  { label: 'Processes', path: '/processes' },
  { label: 'Settings', path: '/settings' },
];
