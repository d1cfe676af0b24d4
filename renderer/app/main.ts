import '../styles/tokens.css';
import '../styles/base.css';
import { createPinia } from 'pinia';
import { createApp } from 'vue';
import { connectionKey, openConnection, pickTransport } from '../bridge/index.ts';
import { matchLocale, setLocale } from '../locales/i18n.ts';
import App from './App.vue';
import { createConsoleRouter } from './router.ts';

/**
 * The files of the lists, which are opened most, are there before the first click. A browser that does not tell when it is
 * idle loads them then, and so does one whom they did not reach: the router tells of a failure.
 */
const loadLists = (): void => {
  globalThis.requestIdleCallback?.(() => {
    void import('../pages/resources/ResourcesPage.vue').catch(() => undefined);
  });
};

const start = async (): Promise<void> => {
  const connection = openConnection(pickTransport());
  // The system's language is the best guess until the host has told the chosen one.
  await setLocale(matchLocale(navigator.languages));
  const app = createApp(App);
  app.provide(connectionKey, connection);
  app.use(createPinia());
  app.use(createConsoleRouter());
  app.mount('#app');
  loadLists();
};

void start();
