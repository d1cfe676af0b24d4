import { createRouter, createWebHashHistory, type Router, type RouterHistory } from 'vue-router';
import { pages } from './pages.ts';

export const HOME_PATH = '/';

/** Hash history: the same page is served from a custom protocol and from `pilothouse serve`. */
export const createConsoleRouter = (history: RouterHistory = createWebHashHistory()): Router =>
  createRouter({
    history,
    routes: [
      ...pages.map((page) => ({ path: page.path, name: page.id, component: page.component })),
      { path: '/:rest(.*)*', name: 'not-found', component: () => import('./NotFound.vue') },
    ],
  });
