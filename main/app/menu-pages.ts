import type { SentenceCode } from '../../core/contract/index.ts';

type PathIn<Code> = Code extends `native.page.${infer Path}` ? Path : never;
/** Every page of the menu has its word by its path: `native.page.<path>`. */
export type MenuPage = PathIn<SentenceCode>;

/** The pages of the Go menu, as the console's navigation orders them. */
export const MENU_PAGES: readonly MenuPage[] = [
  '/',
  '/clusters',
  '/raft',
  '/leases',
  '/certificates',
  '/metrics',
  '/timeline',
  '/snapshots',
  '/upgrade',
  '/checklist',
  '/editor',
  '/events',
  '/processes',
  '/settings',
  '/help',
];
