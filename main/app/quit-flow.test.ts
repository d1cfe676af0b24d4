import { expect, test } from 'vitest';
import type { Clock } from '../../core/base/clock.ts';
import { silentLog } from '../../core/base/log.ts';
import { createQuitFlow } from './quit-flow.ts';

/** A clock whose timers fire only when told. */
const manualClock = (): Clock & { fire(): void } => {
  let pending: (() => void) | undefined;
  return {
    nowMs: () => 0,
    monotonicMs: () => 0,
    after(_delayMs, run) {
      pending = run;
      return { dispose: () => (pending = undefined) };
    },
    fire: () => pending?.(),
  };
};

test('resources are closed in reverse order, also after a failure', async () => {
  const closed: string[] = [];
  const quit = createQuitFlow(manualClock(), silentLog);
  quit.add('first', () => void closed.push('first'));
  quit.add('broken', () => Promise.reject(new Error('stuck file')));
  quit.add('last', async () => void closed.push('last'));
  await quit.close();
  expect(closed).toEqual(['last', 'first']);
});

test('a part that never closes does not keep the app from quitting', async () => {
  const clock = manualClock();
  const quit = createQuitFlow(clock, silentLog);
  quit.add('hangs', () => new Promise(() => undefined));
  const closing = quit.close();
  clock.fire();
  await expect(closing).resolves.toBeUndefined();
});
