// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import { inApp, testConnection } from '../testing/mount.ts';
import { NOTIFICATIONS_KEPT_MAX, useNotificationStore } from './notifications.ts';
import {
  toastDurationMs,
  TOAST_LONG_MS,
  TOAST_SUCCESS_MS,
  TOASTS_SHOWN_MAX,
  useToastStore,
} from './toasts.ts';

const stores = () =>
  inApp(() => ({ toasts: useToastStore(), notifications: useNotificationStore() }), testConnection({}));

test('at most three toasts are shown; the oldest success makes room before any error', async () => {
  const { value, unmount } = await stores();
  value.toasts.show({ severity: 'error', title: 'first error' });
  for (const title of ['a', 'b', 'c']) value.toasts.show({ severity: 'ok', title });
  expect(value.toasts.shown.map((toast) => toast.title)).toEqual(['first error', 'b', 'c']);
  expect(value.toasts.shown.length).toBe(TOASTS_SHOWN_MAX);
  unmount();
});

test('an error that has to make room stays in the list behind the bell', async () => {
  const { value, unmount } = await stores();
  for (const title of ['1', '2', '3', '4']) value.toasts.show({ severity: 'error', title });
  expect(value.toasts.shown.map((toast) => toast.title)).toEqual(['2', '3', '4']);
  expect(value.notifications.items.map((item) => item.title).sort()).toEqual(['1', '2', '3', '4']);
  unmount();
});

test('the same message again takes the place of the one before', async () => {
  const { value, unmount } = await stores();
  for (const title of ['a', 'b', 'a']) value.toasts.show({ severity: 'error', title, detail: 'why' });
  expect(value.toasts.shown.map((toast) => toast.title)).toEqual(['b', 'a']);
  unmount();
});

test('errors stay until closed; warnings, and what can be undone, stay longer than a success', () => {
  const severities = ['ok', 'info', 'warn', 'error'] as const;
  expect(severities.map((severity) => toastDurationMs({ severity, title: '' }))).toEqual([
    TOAST_SUCCESS_MS,
    TOAST_SUCCESS_MS,
    TOAST_LONG_MS,
    Infinity,
  ]);
  const action = { label: 'Undo', run: () => undefined };
  expect(toastDurationMs({ severity: 'ok', title: '', action })).toBe(TOAST_LONG_MS);
});

test('the key for undo takes the newest way back that is shown, each once', async () => {
  const { value, unmount } = await stores();
  const undone: string[] = [];
  for (const label of ['older', 'newer'])
    value.toasts.show({ severity: 'info', title: label, action: { label, run: () => undone.push(label) } });
  value.toasts.show({ severity: 'ok', title: 'nothing to undo' });
  expect([0, 1, 2].map(() => value.toasts.undoNewest())).toEqual([true, true, false]);
  expect(undone).toEqual(['newer', 'older']);
  expect(value.toasts.shown.map(({ title }) => title)).toEqual(['nothing to undo']);
  unmount();
});

test('a repeated notice is recorded once, newest first, within the bound', async () => {
  const { value, unmount } = await stores();
  for (let n = 0; n < NOTIFICATIONS_KEPT_MAX + 20; n += 1)
    value.notifications.record({ id: String(n), severity: 'ok', title: `notice ${n}`, atMs: n });
  expect(value.notifications.record({ id: '119', severity: 'ok', title: 'again', atMs: 500 })).toBe(false);
  expect([value.notifications.items.length, value.notifications.items[0]?.title]).toEqual([
    100,
    'notice 119',
  ]);
  unmount();
});

test('reading marks what is there, and only later notices count as unread', async () => {
  const { value, unmount } = await stores();
  value.notifications.record({ id: 'a', severity: 'ok', title: 'a', atMs: 10 });
  value.notifications.markRead();
  value.notifications.record({ id: 'b', severity: 'ok', title: 'b', atMs: 20 });
  expect(value.notifications.unreadCount).toBe(1);
  unmount();
});
