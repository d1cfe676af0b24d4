import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { CONTAINER_BACK_OFF, nextBackOff, remainingBackOffMs, type BackOffEntry } from './back-off.ts';
import { sharedClock } from './shared-clock.ts';

test('one timer of the platform serves all, in order of their time', () => {
  const platform = manualClock();
  const clock = sharedClock(platform);
  const ran: string[] = [];
  clock.after(30, () => ran.push('c'));
  const cancelled = clock.after(20, () => ran.push('never'));
  clock.after(10, () => {
    ran.push('a');
    clock.after(5, () => ran.push('b'));
  });
  clock.after(30, () => ran.push('d'));
  cancelled.dispose();
  expect(platform.pendingCount).toBe(1);
  platform.advance(15);
  expect(ran).toEqual(['a', 'b']);
  platform.advance(15);
  expect(ran).toEqual(['a', 'b', 'c', 'd']);
  clock.dispose();
  expect(platform.pendingCount).toBe(0);
});

test('back-off doubles from 10 s to 5 min and starts anew after 10 quiet minutes', () => {
  let entry: BackOffEntry | undefined;
  const seconds: number[] = [];
  let nowMs = 0;
  for (let crash = 0; crash < 8; crash += 1) {
    seconds.push(remainingBackOffMs(entry, CONTAINER_BACK_OFF, nowMs, nowMs) / 1000);
    nowMs += seconds.at(-1)! * 1000;
    entry = nextBackOff(entry, CONTAINER_BACK_OFF, nowMs, nowMs);
  }
  expect(seconds).toEqual([0, 10, 20, 40, 80, 160, 300, 300]);
  const quietMs = nowMs + 600_001;
  expect(remainingBackOffMs(entry, CONTAINER_BACK_OFF, quietMs, quietMs)).toBe(0);
  expect(nextBackOff(entry, CONTAINER_BACK_OFF, quietMs, quietMs).durationMs).toBe(10_000);
});
