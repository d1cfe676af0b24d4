// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { effectScope, ref } from 'vue';
import { becomeHidden, becomeVisible } from '../testing/visibility.ts';
import type * as clock from './useNow.ts';

let useNow: typeof clock.useNow;
let useMinute: typeof clock.useMinute;

beforeEach(async () => {
  vi.useFakeTimers({ now: 10_000 });
  // A clock of this test's own: pages of other tests may still show an age on the shared one.
  vi.resetModules();
  ({ useNow, useMinute } = await import('./useNow.ts'));
});
afterEach(() => {
  becomeVisible();
  vi.useRealTimers();
});

test('time moves on the full second while somebody uses it, and no timer is left after the last', () => {
  const scope = effectScope();
  const now = scope.run(() => useNow())!;
  vi.setSystemTime(10_400);
  vi.advanceTimersByTime(1000);
  expect(now.value).toBe(11_400);
  vi.advanceTimersByTime(600);
  expect(now.value).toBe(12_000);
  scope.stop();
  expect(vi.getTimerCount()).toBe(0);
});

test('a hidden page keeps no timer, and the time is right immediately when it is seen again', () => {
  const scope = effectScope();
  const [now, minute] = scope.run(() => [useNow(), useMinute()])!;
  becomeHidden();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(90_000);
  expect([now!.value, minute!.value]).toEqual([10_000, 10_000]);
  becomeVisible();
  expect([now!.value, minute!.value]).toEqual([100_000, 100_000]);
  scope.stop();
});

test('an age that is shown rarely costs no timer in between', () => {
  const isOpen = ref(false);
  const scope = effectScope();
  const now = scope.run(() => useNow(() => isOpen.value))!;
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(5000);
  isOpen.value = true;
  expect(now.value).toBe(15_000);
  isOpen.value = false;
  expect(vi.getTimerCount()).toBe(0);
  scope.stop();
});
