import { expect, test } from 'vitest';
import { MUTANTS } from './mutants/index.ts';
import { runSeed } from './run-seed.ts';

/** Each mutant has to be caught within so many seeds. */
const SEEDS_MAX = 100;

test.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))('caught: %s', async (name, mutant) => {
  for (let seed = 1; seed <= SEEDS_MAX; seed += 1) {
    const { violation } = await runSeed({ seed, mutant });
    await new Promise((resolve) => setImmediate(resolve));
    if (violation === undefined) continue;
    expect(mutant.foundBy, `seed ${seed}: ${violation.message}`).toContain(violation.check);
    return;
  }
  expect.fail(`${name} went through ${SEEDS_MAX} seeds unseen`);
});
