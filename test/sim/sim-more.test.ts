import { expect, test } from 'vitest';
import { runSeeds } from './seeds.ts';

/** The second half of the seeds; see sim.test.ts. */
const FROM = 261;
const COUNT = 260;

test(`members keep their promises under faults (seeds ${FROM} to ${FROM + COUNT - 1})`, async () => {
  expect(await runSeeds({ from: FROM, count: COUNT })).toBeGreaterThan(COUNT);
});
