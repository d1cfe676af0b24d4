// @vitest-environment happy-dom
import { afterEach, expect, test } from 'vitest';
import type { Handlers } from '../../core/contract/index.ts';
import { inApp, settle, testConnection, type Mounted } from '../testing/mount.ts';
import { BULK_PARALLEL_MAX, useBulk } from './useBulk.ts';

let mounted: Mounted | undefined;
afterEach(() => mounted?.unmount());

const start = async () => {
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  const handlers: Handlers = {
    'kube.request': ({ path }) => {
      asked.push(path);
      const refusal = { code: 403, reason: 'Forbidden', message: `no ${path}`, causes: [] };
      return new Promise((resolve) =>
        waiting.push(() => resolve(path.endsWith('/3') ? { ok: false, refusal } : { ok: true, body: null })),
      );
    },
  };
  const app = await inApp(() => useBulk<number>(), testConnection(handlers));
  mounted = app;
  const run = (count: number) =>
    app.value.run(
      Array.from({ length: count }, (_, index) => index),
      (index) => ({ cluster: 'c', method: 'DELETE', path: `/api/v1/namespaces/${index}` }),
    );
  const answerAll = async (): Promise<void> => {
    for (const answer of waiting.splice(0)) answer();
    await settle();
  };
  return { bulk: app.value, asked, run, answerAll };
};

test('several requests are on their way together, never more than the bound', async () => {
  const { bulk, asked, run, answerAll } = await start();
  const ended = run(BULK_PARALLEL_MAX + 1);
  await settle();
  expect(asked).toHaveLength(BULK_PARALLEL_MAX);
  await answerAll();
  expect(asked).toHaveLength(BULK_PARALLEL_MAX + 1);
  await answerAll();
  expect(await ended).toBe(false);
  expect([bulk.doneCount.value, bulk.failures.value]).toEqual([
    BULK_PARALLEL_MAX,
    [{ target: 3, message: 'no /api/v1/namespaces/3' }],
  ]);
});

test('a cancelled run sends nothing more, and says how far it came', async () => {
  const { bulk, asked, run, answerAll } = await start();
  const ended = run(100);
  await settle();
  bulk.cancel();
  expect(bulk.phase.value).toBe('cancelling');
  await answerAll();
  expect(await ended).toBe(false);
  expect([bulk.phase.value, asked.length, bulk.doneCount.value]).toEqual([
    'ended',
    BULK_PARALLEL_MAX,
    BULK_PARALLEL_MAX - 1,
  ]);
});
