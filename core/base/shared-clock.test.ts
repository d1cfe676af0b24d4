import { expect, test } from 'vitest';
import { manualClock } from './manual-clock.ts';
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

test('long waits end together at the multiples of a grid, never early; short ones are exact', () => {
  const platform = manualClock();
  const clock = sharedClock(platform, { gridMs: 1000 });
  const ranAt: string[] = [];
  const note = (name: string) => () => ranAt.push(`${name} ${platform.monotonicMs()}`);
  platform.advance(300);
  clock.after(1000, note('a second'));
  clock.after(1600, note('longer'));
  clock.after(40, note('short'));
  clock.after(999, note('just below'));
  platform.advance(5000);
  expect(ranAt).toEqual(['short 340', 'just below 1299', 'a second 2000', 'longer 2000']);
  clock.dispose();
});
