// @vitest-environment happy-dom
import { afterEach, expect, test } from 'vitest';
import type { ApiRequest } from '../../core/contract/index.ts';
import { inApp, testConnection } from '../testing/mount.ts';
import { useToastStore } from './toasts.ts';
import { ACTIONS_MAX, useActionHistory } from './action-history.ts';

const step = (replicas: number) => ({
  title: 'Deployment web',
  request: {
    method: 'PATCH' as const,
    path: '/apis/apps/v1/namespaces/default/deployments/web/scale',
    body: { spec: { replicas } },
  },
});
const open = async () => {
  const sent: ApiRequest[] = [];
  const connection = testConnection({
    'kube.request': (request) => {
      sent.push(request);
      return Promise.resolve({ ok: true, body: null });
    },
  });
  const app = await inApp(() => useActionHistory(), connection);
  return { sent, history: app.value, unmount: () => app.unmount() };
};
const action = (title: string) => ({ cluster: 'c', title, command: 'kubectl scale', undo: [step(2)] });

afterEach(() => localStorage.removeItem('pilothouse.actions'));

test('an action is taken back once, however often it is asked for', async () => {
  const { history, sent, unmount } = await open();
  const id = history.record(action('web scaled'));
  await Promise.all([history.undo(id), history.undo(id)]);
  expect([sent.map(({ body }) => body), history.kept.map(({ action: { isUndone } }) => isUndone)]).toEqual([
    [{ spec: { replicas: 2 } }],
    [true],
  ]);
  unmount();
});

test('the message that offers to undo an action leaves once it is undone, others stay', async () => {
  const { history, unmount } = await open();
  const [id, other] = [history.record(action('web deleted')), history.record(action('api deleted'))];
  const toasts = useToastStore();
  toasts.show({ severity: 'info', title: 'web deleted', undoes: id });
  toasts.show({ severity: 'info', title: 'api deleted', undoes: other });
  await history.undo(id);
  expect(toasts.shown.map(({ title }) => title)).toEqual(['api deleted', '1 change undone']);
  unmount();
});

test('actions that were undone, or belong to another cluster, cannot be undone', async () => {
  const { history, unmount } = await open();
  const id = history.record(action('web applied'));
  expect([history.canUndo(id, 'c'), history.canUndo(id, 'd'), history.canUndo(undefined, 'c')]).toEqual([
    true,
    false,
    false,
  ]);
  await history.undo(id);
  expect(history.canUndo(id, 'c')).toBe(false);
  unmount();
});

test('the list outlives the window, what takes actions back does not', async () => {
  const first = await open();
  first.history.record(action('web scaled'));
  first.unmount();
  expect(localStorage.getItem('pilothouse.actions')).not.toContain('replicas');
  const second = await open();
  expect(second.history.kept.map(({ action: { title }, undo }) => [title, undo])).toEqual([
    ['web scaled', []],
  ]);
  second.unmount();
});

test('the list is bounded, and a damaged one is an empty one', async () => {
  const { history, unmount } = await open();
  for (let count = 0; count < ACTIONS_MAX + 5; count += 1) history.record(action(`${count}`));
  expect([history.kept.length, history.kept[0]?.action.title]).toEqual([ACTIONS_MAX, `${ACTIONS_MAX + 4}`]);
  unmount();
  localStorage.setItem('pilothouse.actions', '{"not": "a list"');
  const again = await open();
  expect(again.history.kept).toEqual([]);
  again.unmount();
});
