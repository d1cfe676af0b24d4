import { expect, test } from 'vitest';
import { expectEndState } from './testing/expect-end-state.ts';
import { runWithKills } from './testing/kill-run.ts';

test('controllers that are killed at random writes end right, and do nothing twice', async () => {
  const run = await runWithKills({ seed: 7, roundsCount: 60, killShare: 0.1 });
  expect(run.killsCount).toBeGreaterThan(10);
  expectEndState(run);
});

test('controllers that are never killed come to the same end', async () => {
  expectEndState(await runWithKills({ seed: 7, roundsCount: 60, killShare: 0 }));
});
