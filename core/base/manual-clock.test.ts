import { expect, test } from 'vitest';
import { manualClock } from './manual-clock.ts';

test('timers run in order of due time, at their time, and those they start run too', () => {
  const clock = manualClock(1000);
  const ran: string[] = [];
  const note = (what: string) => (): void => void ran.push(`${what} at ${clock.nowMs()}`);
  clock.after(20, note('b'));
  clock.after(10, () => {
    note('a')();
    clock.after(5, note('a again'));
  });
  clock.after(20, note('c'));
  clock.after(30, note('late'));
  clock.advance(25);
  expect(ran).toEqual(['a at 1010', 'a again at 1015', 'b at 1020', 'c at 1020']);
  expect([clock.nowMs(), clock.monotonicMs(), clock.pendingCount]).toEqual([1025, 25, 1]);
});

test('a disposed timer does not run', () => {
  const clock = manualClock();
  let ran = false;
  clock.after(1, () => (ran = true)).dispose();
  clock.advance(10);
  expect([ran, clock.pendingCount]).toEqual([false, 0]);
});
