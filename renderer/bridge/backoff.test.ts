import { expect, test } from 'vitest';
import { RETRY_DELAY_MAX_MS, retryDelayMs } from './backoff.ts';

test('delays double from a quarter of a second and stop growing at eight seconds', () => {
  const longest = [0, 1, 2, 3, 4, 5, 6, 1000].map((attempt) => retryDelayMs(attempt, () => 1));
  expect(longest).toEqual([
    250,
    500,
    1000,
    2000,
    4000,
    RETRY_DELAY_MAX_MS,
    RETRY_DELAY_MAX_MS,
    RETRY_DELAY_MAX_MS,
  ]);
});

test('half of every delay is random', () => {
  expect([retryDelayMs(3, () => 0), retryDelayMs(3, () => 0.5)]).toEqual([1000, 1500]);
});
