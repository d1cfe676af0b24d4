import { expect, test } from 'vitest';
import { CRASH_SPAN_MS, CRASHES_MAX, createCrashBudget } from './page-recovery.ts';

test('a page that keeps crashing is not loaded for ever', () => {
  const budget = createCrashBudget({ monotonicMs: () => 0 });
  const answers = Array.from({ length: CRASHES_MAX + 2 }, () => budget.mayReload());
  expect(answers).toEqual([true, true, true, false, false]);
});

test('crashes long ago are forgiven', () => {
  let nowMs = 0;
  const budget = createCrashBudget({ monotonicMs: () => nowMs });
  for (let i = 0; i <= CRASHES_MAX; i += 1) budget.mayReload();
  nowMs = CRASH_SPAN_MS;
  expect(budget.mayReload()).toBe(true);
});
