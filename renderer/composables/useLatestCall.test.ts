// @vitest-environment happy-dom
import { afterEach, expect, test } from 'vitest';
import { ContractError, type Handlers, verbatim } from '../../core/contract/index.ts';
import { inApp, settle, testConnection, type Mounted } from '../testing/mount.ts';
import { useLatestCall } from './useLatestCall.ts';

let mounted: Mounted | undefined;
afterEach(() => mounted?.unmount());

/** Each question waits for its turn, in any order. */
const start = async () => {
  const waiting: { answer(value: string): void; fail(): void }[] = [];
  const handlers: Handlers = {
    'xray.whatIf': () =>
      new Promise((resolve, reject) =>
        waiting.push({
          answer: (node) =>
            resolve({
              pod: '',
              atMs: 0,
              profile: '',
              node,
              message: '',
              evaluated: 0,
              nodes: 0,
              filters: [],
              scores: [],
              rows: [],
            }),
          fail: () => reject(new ContractError('Unavailable', verbatim('down'))),
        }),
      ),
  };
  const app = await inApp(() => useLatestCall('xray.whatIf'), testConnection(handlers));
  mounted = app;
  const ask = () => app.value.run({ cluster: 'c', pod: '' });
  return { call: app.value, ask, waiting };
};

test('an older answer that comes late is dropped, and so is its error', async () => {
  const { call, ask, waiting } = await start();
  const first = ask();
  const second = ask();
  await settle();
  waiting[1]!.answer('new');
  expect(await second).toMatchObject({ ok: true, value: { node: 'new' } });
  expect(call.pending.value).toBe(true);
  waiting[0]!.fail();
  expect([await first, call.error.value, call.pending.value]).toEqual([undefined, undefined, false]);
});

test('answers in order are all taken, and an error goes with the next answer', async () => {
  const { call, ask, waiting } = await start();
  const first = ask();
  const second = ask();
  await settle();
  waiting[0]!.fail();
  expect(await first).toMatchObject({ ok: false });
  expect(call.error.value?.reason).toBe('Unavailable');
  waiting[1]!.answer('new');
  expect(await second).toMatchObject({ ok: true });
  expect(call.error.value).toBe(undefined);
});
