// @vitest-environment happy-dom
import { afterEach, expect, test } from 'vitest';
import { inApp, testConnection } from '../testing/mount.ts';
import { useHotbar } from './hotbar.ts';
import { WORKSPACES_MAX, useWorkspaces } from './workspaces.ts';

const open = () => inApp(() => ({ workspaces: useWorkspaces(), hotbar: useHotbar() }), testConnection({}));
afterEach(() => localStorage.clear());

test('a workspace keeps pins and columns and brings them back', async () => {
  const app = await open();
  const { workspaces, hotbar } = app.value;
  const web = { title: 'Pods: web', address: '/workloads?kind=pods&filter=web' };
  hotbar.pin(web);
  localStorage.setItem('pilothouse.columns.pods', '{"hidden":["Age"]}');
  expect(workspaces.save(' day ', '/workloads?kind=pods')).toBe(true);
  hotbar.unpin(web.address);
  localStorage.removeItem('pilothouse.columns.pods');
  localStorage.setItem('pilothouse.columns.nodes', '{}');
  workspaces.save('night', '/raft');
  expect(workspaces.open('day')).toBe('/workloads?kind=pods');
  expect([hotbar.pins, workspaces.current]).toEqual([[web], 'day']);
  expect(localStorage.getItem('pilothouse.columns.pods')).toBe('{"hidden":["Age"]}');
  expect(localStorage.getItem('pilothouse.columns.nodes')).toBeNull();
  app.unmount();
  const again = await open();
  expect(again.value.workspaces.saved.map(({ name }) => name)).toEqual(['day', 'night']);
  again.value.workspaces.remove('day');
  expect([again.value.workspaces.saved.length, again.value.workspaces.current]).toEqual([1, undefined]);
  again.unmount();
});

test('one whose cluster is gone is not opened, and there are only so many', async () => {
  localStorage.setItem(
    'pilothouse.workspaces',
    JSON.stringify([{ name: 'old', cluster: '/gone', namespaces: [], pins: [], columns: {}, address: '/' }]),
  );
  const app = await open();
  const { workspaces } = app.value;
  expect([workspaces.isGone(workspaces.saved[0]!), workspaces.open('old')]).toEqual([true, undefined]);
  for (let i = 1; i < WORKSPACES_MAX; i += 1) workspaces.save(`w${i}`, '/');
  expect([workspaces.save('more', '/'), workspaces.save('w1', '/raft')]).toEqual([false, true]);
  app.unmount();
});

test('addresses stored by other programs only lead to pages of the console', async () => {
  const bad = [
    { name: 'a', address: 'javascript:alert(1)' },
    { name: 'b', address: '//evil.example' },
    { name: '', address: '/' },
    null,
    { name: 'ok', address: '/', pins: [{ title: 'x', address: 'https://evil.example' }], columns: { a: 1 } },
  ];
  localStorage.setItem('pilothouse.workspaces', JSON.stringify(bad));
  const app = await open();
  expect(app.value.workspaces.saved).toEqual([
    { name: 'ok', address: '/', cluster: undefined, namespaces: [], pins: [], columns: {} },
  ]);
  app.unmount();
});
