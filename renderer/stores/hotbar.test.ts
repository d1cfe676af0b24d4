// @vitest-environment happy-dom
import { afterEach, expect, test } from 'vitest';
import { inApp, testConnection } from '../testing/mount.ts';
import { PINS_MAX, useHotbar } from './hotbar.ts';

const KEY = 'pilothouse.hotbar';
const open = () => inApp(() => useHotbar(), testConnection({}));
afterEach(() => localStorage.removeItem(KEY));

test('a place is pinned once, kept, and let go', async () => {
  const first = await open();
  const web = { title: 'Pods: web', address: '/workloads?kind=pods&filter=web' };
  expect([first.value.pin(web), first.value.pin(web), first.value.pins.length]).toEqual([true, true, 1]);
  first.unmount();
  const second = await open();
  expect(second.value.pins).toEqual([web]);
  second.value.unpin(web.address);
  expect([second.value.pins, localStorage.getItem(KEY)]).toEqual([[], null]);
  second.unmount();
});

test('there are as many places as digits', async () => {
  const app = await open();
  const pinned = Array.from({ length: PINS_MAX + 1 }, (_, at) =>
    app.value.pin({ title: `${at}`, address: `/raft?n=${at}` }),
  );
  expect([pinned.at(-1), app.value.pins.length]).toEqual([false, PINS_MAX]);
  app.unmount();
});

test('stored addresses only lead to pages of the console', async () => {
  const bad = ['//evil.example', 'https://evil.example', 'javascript:alert(1)', '/\\evil.example', 7];
  localStorage.setItem(KEY, JSON.stringify([...bad.map((address) => ({ title: 'x', address })), null, 'x']));
  const app = await open();
  expect(app.value.pins).toEqual([]);
  app.unmount();
});
