import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { KeyedLoop } from './keyed-loop.ts';

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
};

const loopOf = (work: (key: string) => Promise<void>, atOnceMax = 2) => {
  const clock = manualClock();
  return {
    clock,
    loop: new KeyedLoop({ clock, work, againMs: 1000, retryMsMin: 10, retryMsMax: 30, atOnceMax }),
  };
};

test('a key is worked on when woken, again after its pause, and no more when it is forgotten', async () => {
  const done: string[] = [];
  const { clock, loop } = loopOf((key) => Promise.resolve(void done.push(key)));
  loop.wake('a');
  await turns();
  clock.advance(1000);
  await turns();
  loop.forget('a');
  clock.advance(5000);
  await turns();
  expect({ done, pending: clock.pendingCount }).toEqual({ done: ['a', 'a'], pending: 0 });
});

test('failures are repeated with a growing pause that has a limit', async () => {
  const atMs: number[] = [];
  const { clock, loop } = loopOf(() => {
    atMs.push(clock.monotonicMs());
    return Promise.reject(new Error('down'));
  });
  loop.wake('a');
  for (let step = 0; step < 85; step += 1) {
    await turns();
    clock.advance(1);
  }
  loop.dispose();
  expect(atMs).toEqual([0, 10, 30, 60]);
});

test('a key that is woken while it is worked on is worked on once more, never twice at a time', async () => {
  const ends: (() => void)[] = [];
  const { loop } = loopOf(() => new Promise((resolve) => ends.push(resolve)));
  loop.wake('a');
  loop.wake('a');
  loop.wake('a');
  expect(ends).toHaveLength(1);
  ends[0]!();
  await turns();
  expect(ends).toHaveLength(2);
  loop.dispose();
});

test('only so many keys are worked on at a time', async () => {
  const ends = new Map<string, () => void>();
  const { loop } = loopOf((key) => new Promise((resolve) => ends.set(key, resolve)));
  for (const key of ['a', 'b', 'c']) loop.wake(key);
  expect([...ends.keys()]).toEqual(['a', 'b']);
  ends.get('a')!();
  await turns();
  expect([...ends.keys()]).toEqual(['a', 'b', 'c']);
  loop.dispose();
});
