import { expect, test } from 'vitest';
import { createPace } from './pace.ts';

test('work continues until its time is over, and then waits for a turn', async () => {
  let nowMs = 0;
  const pace = createPace(() => nowMs);
  nowMs = 4;
  const early = pace();
  nowMs = 6;
  const late = pace();
  await late;
  expect([early, late instanceof Promise, pace()]).toEqual([undefined, true, undefined]);
});
