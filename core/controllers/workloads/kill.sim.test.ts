import { expect, test } from 'vitest';
import { expectEndState } from './testing/expect-end-state.ts';
import { runWithKills } from './testing/kill-run.ts';

const SEEDS = Array.from({ length: 20 }, (_, i) => 100 + i);

test.each(SEEDS)(
  'killed at random writes, seed %i: the end is right and nothing was done twice',
  async (seed) => {
    const run = await runWithKills({ seed, roundsCount: 90, killShare: 0.05 + (seed % 5) * 0.08 });
    // As many as a share of 5 % gives; a run without kills would say nothing.
    expect(run.killsCount).toBeGreaterThan(5);
    expectEndState(run);
  },
);
