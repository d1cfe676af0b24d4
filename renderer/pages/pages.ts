import { navGroups, type Page } from './page.ts';

const modules = import.meta.glob<{ page: Page }>('./*/page.ts', { eager: true });

/** Every page there is, in the order of the navigation. */
export const pages: readonly Page[] = Object.values(modules)
  .map((module) => module.page)
  .sort((a, b) => navGroups.indexOf(a.group) - navGroups.indexOf(b.group) || a.order - b.order);

/** Groups that have something to show. */
export const navigation = navGroups
  .map((group) => ({ group, pages: pages.filter((page) => page.group === group) }))
  .filter((entry) => entry.pages.length > 0);
