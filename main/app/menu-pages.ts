import type { MenuPage } from './menu-template.ts';

/** The pages of the Go menu, as the console's navigation orders them. */
export const MENU_PAGES: readonly MenuPage[] = [
  { label: 'Overview', path: '/' },
  { label: 'Clusters', path: '/clusters' },
  { label: 'Raft', path: '/raft' },
  { label: 'Leases', path: '/leases' },
  { label: 'Certificates', path: '/certificates' },
  { label: 'Metrics', path: '/metrics' },
  { label: 'Snapshots', path: '/snapshots' },
  { label: 'Upgrade', path: '/upgrade' },
  { label: 'Checklist', path: '/checklist' },
  { label: 'Editor', path: '/editor' },
  { label: 'Events', path: '/events' },
  { label: 'Processes', path: '/processes' },
  { label: 'Settings', path: '/settings' },
  { label: 'Help', path: '/help' },
];
