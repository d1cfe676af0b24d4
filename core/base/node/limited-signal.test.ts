import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { limitedSignal } from './limited-signal.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

test('work ends at its limit, although no one holds the limit and garbage is collected', async () => {
  const ended = once(limitedSignal(new AbortController().signal, 50).signal, 'abort');
  collectGarbage();
  await new Promise((resolve) => setTimeout(resolve, 10));
  collectGarbage();
  // The timer alone does not keep the process.
  const keep = setInterval(() => undefined, 1000);
  await ended;
  clearInterval(keep);
});

test('work ends with what it belongs to, for the same reason, also when that is over already', () => {
  const outer = new AbortController();
  const before = limitedSignal(outer.signal, 60_000);
  outer.abort(new Error('stopping'));
  const after = limitedSignal(outer.signal, 60_000);
  expect([before, after].map(({ signal }) => (signal.reason as Error).message)).toEqual([
    'stopping',
    'stopping',
  ]);
  before.dispose();
  after.dispose();
});

test('work that is done leaves nothing behind', () => {
  const outer = new AbortController();
  const limited = limitedSignal(outer.signal, 60_000);
  limited.dispose();
  outer.abort();
  expect(limited.signal.aborted).toBe(false);
});
