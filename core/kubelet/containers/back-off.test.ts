import { expect, test } from 'vitest';
import { CONTAINER_BACK_OFF, nextBackOff, remainingBackOffMs, type BackOffEntry } from './back-off.ts';

test('back-off doubles from 10 s to 5 min and resets after 10 quiet minutes', () => {
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
