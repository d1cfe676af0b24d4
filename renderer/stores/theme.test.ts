// @vitest-environment happy-dom
import { beforeEach, expect, test } from 'vitest';
import { ContractError, type Settings, settingsDefault, verbatim } from '../../core/contract/index.ts';
import { feed, inApp, settle, testConnection } from '../testing/mount.ts';
import { useSettingsStore } from './settings.ts';
import { THEME_STORAGE_KEY, useThemeStore } from './theme.ts';
import { useToastStore } from './toasts.ts';

const shown = () => document.documentElement.dataset['theme'];

beforeEach(() => {
  localStorage.clear();
  delete document.documentElement.dataset['theme'];
});

test('before the host has answered the remembered choice is shown', async () => {
  localStorage.setItem(THEME_STORAGE_KEY, 'dark');
  const app = await inApp(
    () => useThemeStore(),
    testConnection({ 'settings.watch': feed<Settings>().handler }),
  );
  expect([shown(), app.value.choice]).toEqual(['dark', 'dark']);
  app.unmount();
});

test('the choice of the host wins and is remembered for the next first paint', async () => {
  localStorage.setItem(THEME_STORAGE_KEY, 'dark');
  const host = feed<Settings>({ ...settingsDefault, theme: 'light' });
  const app = await inApp(() => useThemeStore(), testConnection({ 'settings.watch': host.handler }));
  expect([shown(), localStorage.getItem(THEME_STORAGE_KEY)]).toEqual(['light', 'light']);
  host.push({ ...settingsDefault, theme: 'dark' });
  await settle();
  expect([shown(), localStorage.getItem(THEME_STORAGE_KEY)]).toEqual(['dark', 'dark']);
  app.unmount();
});

test('a chosen theme shows immediately and is written through to the host', async () => {
  const written: unknown[] = [];
  const connection = testConnection({
    'settings.watch': feed(settingsDefault).handler,
    'settings.write': (patch) => {
      written.push(patch);
      return Promise.resolve({ ...settingsDefault, theme: 'dark' });
    },
  });
  const app = await inApp(() => useThemeStore(), connection);
  const saving = app.value.choose('dark');
  expect(shown()).toBe('dark');
  expect(await saving).toBe(true);
  expect([shown(), written]).toEqual(['dark', [{ theme: 'dark' }]]);
  app.unmount();
});

test('a refused choice falls back to what the host holds and says so', async () => {
  const connection = testConnection({
    'settings.watch': feed<Settings>({ ...settingsDefault, theme: 'light' }).handler,
    'settings.write': () => Promise.reject(new ContractError('Unavailable', verbatim('the disk is full'))),
  });
  const app = await inApp(
    () => ({ theme: useThemeStore(), settings: useSettingsStore(), toasts: useToastStore() }),
    connection,
  );
  expect(await app.value.theme.choose('dark')).toBe(false);
  expect([shown(), app.value.settings.current.theme]).toEqual(['light', 'light']);
  expect(app.value.toasts.shown).toMatchObject([{ severity: 'error', detail: 'the disk is full' }]);
  app.unmount();
});
