import { createRouter, createWebHashHistory, type Router, type RouterHistory } from 'vue-router';
import { pages } from '../pages/pages.ts';

export const HOME_PATH = '/';

/** Not sooner again: a file that is not there at all must not keep the console loading. */
const RELOAD_PAUSE_MS = 30_000;
const RELOADED_KEY = 'pilothouse.reloaded';

/** What a browser says when a page's script or style sheet did not arrive. */
const isLoadFailure = (error: unknown): boolean =>
  error instanceof Error &&
  /preload CSS|dynamically imported module|module script failed/.test(error.message);

/**
 * The files of a page come from the host when it is first opened. When one did not arrive (the host was updated or
 * restarted meanwhile), the console is reloaded at that page; what was being edited is kept by its store.
 */
const reloadAt = (path: string): void => {
  const before = Number(sessionStorage.getItem(RELOADED_KEY) ?? 0);
  if (Date.now() - before < RELOAD_PAUSE_MS) return;
  sessionStorage.setItem(RELOADED_KEY, String(Date.now()));
  window.location.hash = path;
  window.location.reload();
};

/** Hash history: the same page is served from a custom protocol and from `pilothouse serve`. */
export const createConsoleRouter = (history: RouterHistory = createWebHashHistory()): Router => {
  const router = createRouter({
    history,
    routes: [
      ...pages.map((page) => ({ path: page.path, name: page.id, component: page.component })),
      { path: '/:rest(.*)*', name: 'not-found', component: () => import('./NotFound.vue') },
    ],
  });
  router.onError((error, to) => {
    if (isLoadFailure(error)) reloadAt(to.fullPath);
  });
  return router;
};
